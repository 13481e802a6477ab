import { EvidenceText } from './evidence-text.js';
import { type PolicyBody, policySentences } from './policy-sentence.js';

/** A policy in words. */
export function Sentences({ body }: { readonly body: PolicyBody }) {
  const [assets, ...permissions] = policySentences(body);
  return (
    <>
      <p>
        <EvidenceText text={`${assets}:`} />
      </p>
      <ul class="plain">
        {permissions.map((text, at) => (
          <li key={`${at} ${text}`}>
            <EvidenceText text={text} />
          </li>
        ))}
      </ul>
    </>
  );
}
