import { basicLines, EventView } from './event-view.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, memberOf, textOf } from './json-members.js';
import { recordedEvent } from './recorded-event.js';
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
  /** Whether the answer to a check stands on the page. */
  readonly isChecked: boolean;
}

/** What the service shows of an asset: its attributes, and its history. */
export function AssetView({ shown, address, isChecked }: AssetViewProps) {
  const attributes = Object.entries((shown.asset['attributes'] ?? {}) as Json);
  return (
    <>
      <section class="part">
        <h2>{TEXTS.asset.attributes}</h2>
        {!isChecked && <p class="hint">{TEXTS.asset.shown}</p>}
        <dl class="facts card">
          {attributes.map(([name, value]) => (
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
      </section>
      <section class="part">
        <h2>{TEXTS.asset.history}</h2>
        <p class="hint">{TEXTS.asset.events(shown.events.length)}</p>
        <ol class="timeline">
          {shown.events.map(recordedEvent).map((event) => (
            <EventView key={event.identity} event={event} lines={basicLines(event)} />
          ))}
        </ol>
      </section>
      <p class="part">
        <a href={`${address}/events`}>{TEXTS.asset.source}</a>
      </p>
    </>
  );
}
