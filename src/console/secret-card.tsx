import { useState } from 'preact/hooks';
import { Code, EvidenceText } from './evidence-text.js';
import { OPERATOR_TEXTS } from './operator-texts.js';

const TEXTS = OPERATOR_TEXTS.applications;

interface SecretProps {
  readonly name: string;
  readonly secret: string;
  /** What belongs to the secret, by its label. */
  readonly beside?: readonly (readonly [string, string])[];
  onDone(): void;
}

/** A secret that was just made. Nothing keeps it but this view. */
export function SecretCard({ name, secret, beside = [], onDone }: SecretProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(secret).then(() => setCopied(true));
  return (
    <section class="card warning" role="alert">
      <h2>
        <EvidenceText text={TEXTS.secretTitle(name)} />
      </h2>
      <p>{TEXTS.secretHelp}</p>
      <dl class="facts">
        {[...beside, [TEXTS.secret, secret] as const].map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Code text={value} />
            </dd>
          </div>
        ))}
      </dl>
      <p class="choose">
        {/* Only pages over HTTPS, or of this machine, may write to the clipboard. */}
        {navigator.clipboard !== undefined && (
          <button type="button" onClick={copy}>
            {isCopied ? TEXTS.copied : TEXTS.copy}
          </button>
        )}{' '}
        <button type="button" onClick={onDone}>
          {TEXTS.secretDone}
        </button>
      </p>
    </section>
  );
}
