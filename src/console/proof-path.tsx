import type { Claim } from '../core/verify/claim.js';
import { Code, EvidenceText } from './evidence-text.js';
import { type ProofStep, stepsOf } from './proof-steps.js';

/**
 * The way from what was recorded to the signed root and on to the witnesses: a list, drawn as a line with a stop for each
 * step that was checked. Each step opens to the values that the check compared.
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

function Step({ step: { title, values } }: { readonly step: ProofStep }) {
  return (
    <details>
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
    </details>
  );
}
