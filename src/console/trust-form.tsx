import { useId } from 'preact/hooks';
import { mayKeep } from './kept-trust.js';
import type { StatedTrust, TrustFaults } from './stated-trust.js';
import { TEXTS } from './texts.js';

interface FieldProps {
  readonly label: string;
  readonly help: string;
  readonly fault?: string | undefined;
  readonly good?: string | undefined;
  readonly value: string;
  readonly rows: number;
  onText(text: string): void;
}

function Field({ label, help, fault, good, value, rows, onText }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-help`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <p id={`${id}-help`} class={fault ? 'fault' : good ? 'good' : 'hint'}>
        {fault ?? good ?? help}
      </p>
    </div>
  );
}

interface TrustFormProps {
  readonly stated: StatedTrust;
  readonly faults: TrustFaults;
  readonly isRootGood: boolean;
  readonly keyCount: number;
  onChange(change: Partial<StatedTrust>): void;
  onKeyFiles(files: FileList): void;
}

/** Whom the reader trusts: one fingerprint, and what else there may be to compare with. */
export function TrustForm({ stated, faults, isRootGood, keyCount, onChange, onKeyFiles }: TrustFormProps) {
  const id = useId();
  const keysText = faults.keys ?? (keyCount > 0 ? TEXTS.keysRead(keyCount) : TEXTS.keyFilesHelp);
  return (
    <section class="card">
      <h2>{TEXTS.trustTitle}</h2>
      <Field
        label={TEXTS.fingerprint}
        help={TEXTS.fingerprintHelp}
        fault={faults.fingerprint}
        good={isRootGood ? TEXTS.fingerprintGood : undefined}
        value={stated.fingerprint}
        rows={2}
        onText={(fingerprint) => onChange({ fingerprint })}
      />
      {mayKeep() && (
        <label class="check">
          <input
            type="checkbox"
            checked={stated.isKept}
            onChange={(event) => onChange({ isKept: event.currentTarget.checked })}
          />{' '}
          {TEXTS.keep}
        </label>
      )}
      <details>
        <summary>{TEXTS.more}</summary>
        <Field
          label={TEXTS.issuer}
          help={TEXTS.issuerHelp}
          value={stated.issuer}
          rows={1}
          onText={(issuer) => onChange({ issuer })}
        />
        <Field
          label={TEXTS.witnesses}
          help={TEXTS.witnessesHelp}
          fault={faults.witnesses}
          value={stated.witnesses}
          rows={2}
          onText={(witnesses) => onChange({ witnesses })}
        />
        <div class="field">
          <label for={`${id}-keys`}>{TEXTS.keyFiles}</label>
          <input
            id={`${id}-keys`}
            type="file"
            multiple
            aria-describedby={`${id}-keys-help`}
            onChange={(event) => event.currentTarget.files && onKeyFiles(event.currentTarget.files)}
          />
          <p id={`${id}-keys-help`} class={faults.keys ? 'fault' : 'hint'}>
            {keysText}
          </p>
        </div>
      </details>
    </section>
  );
}
