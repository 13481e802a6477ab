import { useEffect } from 'preact/hooks';
import { AssetAttributes } from './asset-attributes.js';
import { ASSET_TEXTS } from './asset-texts.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import type { Json } from './json-members.js';
import { Moment } from './moment.js';
import { PlaceAnchor, type PlaceLink } from './place-link.js';
import { PublicPage, publicAsset } from './public-page.js';
import { readJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { useLoaded } from './use-loaded.js';

interface StateProps extends PlaceLink {
  readonly asset: string;
  /** The past time that is asked for; now if undefined. */
  readonly at: string | undefined;
  /** Told of what is shown. */
  onShown(attributes: Json): void;
}

/** What an asset is, or was at a past time, and where the public reads it. */
export function AssetState({ asset, at, onShown, onGo }: StateProps) {
  const query = at === undefined ? '' : `?${new URLSearchParams({ at_time: at })}`;
  const { value, fault, reload } = useLoaded(
    () => readJson(`/archivist/v2/assets/${asset}${query}`) as Promise<Json>,
    [asset, query],
  );
  useEffect(() => {
    if (value) onShown((value['attributes'] ?? {}) as Json);
  }, [value]);
  const shared = value && publicAsset(asset, value);
  // Who sees an event may see nothing of its asset, which is no fault.
  const isFault = fault && (at !== undefined || fault.reason !== 'absent');
  if (!value && !isFault) return null;
  return (
    <>
      {shared && <PublicPage {...shared} />}
      <section class="part">
        <h2>{at === undefined ? ASSET_TEXTS.attributes : ASSET_TEXTS.attributesThen}</h2>
        {at !== undefined && (
          <>
            <p>
              {ASSET_TEXTS.asItWas} <Moment time={at} />. {ASSET_TEXTS.asItWasHelp}
            </p>
            <p>
              <PlaceAnchor place={{ kind: 'asset', id: asset }} onGo={onGo}>
                {ASSET_TEXTS.seeNow}
              </PlaceAnchor>
            </p>
          </>
        )}
        {fault && <SignIn fault={fault} onAgain={reload} />}
        {value && <p class="hint">{CONSOLE_TEXTS.stateHelp}</p>}
        {value && <AssetAttributes asset={value} />}
      </section>
    </>
  );
}
