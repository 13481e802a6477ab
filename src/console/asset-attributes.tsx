import { ASSET_TEXTS } from './asset-texts.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, known, textOf } from './json-members.js';

/** The attributes of an asset, as the service shows them. */
export function AssetAttributes({ asset }: { readonly asset: Json }) {
  return (
    <dl class="facts card">
      {Object.entries((asset['attributes'] ?? {}) as Json).map(([name, value]) => (
        <div key={name}>
          <dt>
            <AttributeName name={name} />
          </dt>
          <dd>
            <EvidenceText text={textOf(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function AttributeName({ name }: { readonly name: string }) {
  const title = known(ASSET_TEXTS.attributeNames, name);
  if (title === undefined) return <EvidenceText text={name} />;
  return (
    <>
      {title} <small>({name})</small>
    </>
  );
}
