import { useState } from 'preact/hooks';
import type { Claim } from '../core/verify/claim.js';
import { BytesView } from './bytes-view.js';
import { Code, EvidenceText } from './evidence-text.js';
import { type ProofStep, stepsOf } from './proof-steps.js';

/**
 * The way from what was recorded to the signed root and on to the witnesses: a list, drawn as a line with a stop for each
 * step that was checked. Each step opens to the values that the check compared, and to the bytes that were
 * hashed or signed.
 */
export function ProofPath({ claim }: { readonly claim: Claim }) {
  return (
    <ol class="path">
      {stepsOf(claim).map((step) => (
        <li key={JSON.stringify(step)}>
          <Step step={step} />
        </li>
      ))}
    </ol>
  );
}

function Step({ step: { title, values, covered } }: { readonly step: ProofStep }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <EvidenceText text={title} />
      </summary>
      <dl class="facts">
        {values.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Code text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {isOpen && covered && (
        <>
          <p>{covered.title}</p>
          <BytesView covered={covered.read()} />
        </>
      )}
    </details>
  );
}
