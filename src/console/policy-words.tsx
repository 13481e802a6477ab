import { EvidenceText } from './evidence-text.js';
import { type Organisations, type PolicyBody, policySentences } from './policy-sentence.js';

interface SentencesProps {
  readonly body: PolicyBody;
  readonly organisations: Organisations;
}

/** A policy in words. */
export function Sentences({ body, organisations }: SentencesProps) {
  const [assets, ...permissions] = policySentences(body, organisations);
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
