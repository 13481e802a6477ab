import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.js';
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

/** A secret that was just made. Nothing else keeps it, so it is brought into view. */
export function SecretCard({ name, secret, beside = [], onDone }: SecretProps) {
  const card = useRef<HTMLElement>(null);
  useEffect(() => card.current?.scrollIntoView({ block: 'nearest' }), [secret]);
  return (
    <section ref={card} class="card warning" role="alert">
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
        <CopyButton text={secret} />{' '}
        <button type="button" onClick={onDone}>
          {TEXTS.secretDone}
        </button>
      </p>
    </section>
  );
}
