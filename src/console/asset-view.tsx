import { visibleText } from '../core/evidence/visible-text.js';
import { operationName } from './claim-view.js';
import { EvidenceText } from './evidence-text.js';
import { Moment } from './moment.js';
import { TEXTS } from './texts.js';

type Json = Readonly<Record<string, unknown>>;

/** A public asset and its events, as the service shows them. Nothing of it is proven. */
export interface ShownAsset {
  readonly asset: Json;
  /** Newest first. */
  readonly events: readonly Json[];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const memberOf = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null && Object.hasOwn(of, name) ? (of as Json)[name] : undefined;

function known(names: Readonly<Record<string, string>>, name: unknown): string | undefined {
  return typeof name === 'string' && Object.hasOwn(names, name) ? names[name] : undefined;
}

/** The name that the asset was given; empty without one. */
export function titleOf({ asset }: ShownAsset): string {
  const name = memberOf(asset['attributes'], 'arc_display_name');
  return typeof name === 'string' ? name : '';
}

function eventTitle(event: Json): string {
  const operation = memberOf(event['event_attributes'], 'vcon_operation');
  const type = memberOf(event['event_attributes'], 'arc_display_type');
  if (typeof operation === 'string') return operationName(operation);
  return typeof type === 'string' ? type : (known(TEXTS.asset.kinds, event['operation']) ?? TEXTS.noOperation);
}

function EventView({ event }: { readonly event: Json }) {
  const name =
    memberOf(event['principal_accepted'], 'display_name') || memberOf(event['principal_accepted'], 'subject');
  return (
    <li class="operation">
      <h3>
        <EvidenceText text={eventTitle(event)} />
      </h3>
      <dl class="facts">
        <div>
          <dt>{TEXTS.facts['accepted']}</dt>
          <dd>
            <Moment time={textOf(event['timestamp_accepted'] ?? '')} />
          </dd>
        </div>
        {typeof name === 'string' && name !== '' && (
          <div>
            <dt>{TEXTS.facts['principal']}</dt>
            <dd>
              <EvidenceText text={name} />
            </dd>
          </div>
        )}
        <div>
          <dt>{TEXTS.asset.state}</dt>
          <dd>
            <EvidenceText
              text={
                known(TEXTS.asset.states, event['confirmation_status']) ?? textOf(event['confirmation_status'] ?? '')
              }
            />
          </dd>
        </div>
      </dl>
      <details>
        <summary>{TEXTS.asset.members}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard */}
        <pre tabIndex={0}>{visibleText(JSON.stringify(event, null, 2))}</pre>
      </details>
    </li>
  );
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
          {shown.events.map((event) => (
            <EventView key={textOf(event['identity'])} event={event} />
          ))}
        </ol>
      </section>
      <p class="part">
        <a href={`${address}/events`}>{TEXTS.asset.source}</a>
      </p>
    </>
  );
}
