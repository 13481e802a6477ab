import { AssetAttributes } from './asset-attributes.js';
import { ASSET_TEXTS } from './asset-texts.js';
import { eventNames } from './event-names.js';
import { basicLines, EventView, nameLine } from './event-view.js';
import { type Json, memberOf } from './json-members.js';
import { Moment } from './moment.js';
import { acceptedUntil, recordedEvent } from './recorded-event.js';
import { TEXTS } from './texts.js';

/** A public asset and its events, as the service shows them. Nothing of it is proven. */
export interface ShownAsset {
  readonly asset: Json;
  /** Newest first. */
  readonly events: readonly Json[];
}

/** The name that the asset was given; empty without one. */
export function titleOf({ asset }: ShownAsset): string {
  const name = memberOf(asset['attributes'], 'arc_display_name');
  return typeof name === 'string' ? name : '';
}

interface AssetViewProps {
  readonly shown: ShownAsset;
  readonly address: string;
  /** The past time that is asked for; now if undefined. */
  readonly at: string | undefined;
  /** Whether the answer to a check stands on the page. */
  readonly isChecked: boolean;
}

/** What the service shows of an asset: its attributes, and its history. */
export function AssetView({ shown, address, at, isChecked }: AssetViewProps) {
  const all = shown.events.map(recordedEvent);
  const events = at === undefined ? all : acceptedUntil(all, at);
  const names = eventNames(events);
  return (
    <>
      <section class="part">
        <h2>{at === undefined ? ASSET_TEXTS.attributes : ASSET_TEXTS.attributesThen}</h2>
        {at !== undefined && <PastTime at={at} />}
        {at === undefined && !isChecked && <p class="hint">{ASSET_TEXTS.shown}</p>}
        <AssetAttributes asset={shown.asset} />
      </section>
      <section class="part">
        <h2>{ASSET_TEXTS.history}</h2>
        <p class="hint">{ASSET_TEXTS.events(events.length)}</p>
        <ol class="timeline">
          {events.map((event) => (
            <EventView key={event.identity} event={event} lines={[...nameLine(event), ...basicLines(event)]}>
              <p>
                <a
                  href={`?${new URLSearchParams({ at_time: event.accepted })}`}
                  aria-label={TEXTS.ofRow(ASSET_TEXTS.afterEvent, names.get(event) ?? '')}
                >
                  {ASSET_TEXTS.afterEvent}
                </a>
              </p>
            </EventView>
          ))}
        </ol>
      </section>
      <p class="part">
        <a href={`${address}/events`}>{ASSET_TEXTS.source}</a>
      </p>
    </>
  );
}

function PastTime({ at }: { readonly at: string }) {
  return (
    <>
      <p>
        {ASSET_TEXTS.asItWas} <Moment time={at} />. {ASSET_TEXTS.asItWasHelp}
      </p>
      <p>
        <a href={location.pathname}>{ASSET_TEXTS.seeNow}</a>
      </p>
      <p class="hint">{ASSET_TEXTS.shownThen}</p>
    </>
  );
}
