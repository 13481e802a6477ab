import { EvidenceText } from './evidence-text.js';
import { type Json, textOf } from './json-members.js';

/** The attributes of an asset, as the service shows them. */
export function AssetAttributes({ asset }: { readonly asset: Json }) {
  return (
    <dl class="facts card">
      {Object.entries((asset['attributes'] ?? {}) as Json).map(([name, value]) => (
        <div key={name}>
          <dt>
            <EvidenceText text={name} />
          </dt>
          <dd>
            <EvidenceText text={textOf(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
