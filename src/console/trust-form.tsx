import { useId } from 'preact/hooks';
import { mayKeep } from './kept-trust.js';
import type { StatedTrust, TrustFaults } from './stated-trust.js';
import { TextField } from './text-field.js';
import { TEXTS } from './texts.js';

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
      <TextField
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
        <TextField
          label={TEXTS.issuer}
          help={TEXTS.issuerHelp}
          value={stated.issuer}
          rows={1}
          onText={(issuer) => onChange({ issuer })}
        />
        <TextField
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
