import type { ComponentChildren } from 'preact';
import { visibleText } from '../core/evidence/visible-text.js';
import { ASSET_TEXTS } from './asset-texts.js';
import { Code, EvidenceText } from './evidence-text.js';
import { known, memberOf } from './json-members.js';
import { Moment } from './moment.js';
import { Preformatted } from './preformatted.js';
import type { RecordedEvent } from './recorded-event.js';
import { TEXTS } from './texts.js';

/** One line of an event. */
export interface Line {
  readonly title: string;
  readonly value: ComponentChildren;
}

/** Lines with their titles. */
export function Lines({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <dl class="facts">
      {lines.map(({ title, value }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Where the page of the logs is, from the console and from the page of a public asset: both may be below a path. */
const logsPage = (): string =>
  `${location.pathname.replace(/\/(?:console|archivist\/(?:v2\/)?publicassets\/[^/]+\/*)$/, '')}/verifiabledata/tlog`;

/** When, by whom, and how far it is in the log. */
export function basicLines({ accepted, by, status, trails }: RecordedEvent): Line[] {
  const state = (
    <>
      <EvidenceText text={known(ASSET_TEXTS.states, status) ?? status} />
      {status === 'UNEQUIVOCAL' && (
        <>
          {' '}
          (<a href={logsPage()}>{ASSET_TEXTS.whichWitnesses}</a>)
        </>
      )}
    </>
  );
  return [
    { title: TEXTS.facts['accepted']!, value: <Moment time={accepted} /> },
    ...(by === '' ? [] : [{ title: TEXTS.facts['principal']!, value: <EvidenceText text={by} /> }]),
    { title: ASSET_TEXTS.state, value: state },
    ...(trails.length === 0 ? [] : [{ title: ASSET_TEXTS.trails, value: <EvidenceText text={trails.join(', ')} /> }]),
  ];
}

/** The name that the event gave its asset. */
export function nameLine({ json }: RecordedEvent): Line[] {
  const name = memberOf(json['asset_attributes'], 'arc_display_name');
  return typeof name === 'string' ? [{ title: ASSET_TEXTS.name, value: <EvidenceText text={name} /> }] : [];
}

/** The line with a digest or an id. */
export const codeLine = (title: string, text: string | undefined): Line[] =>
  text === undefined ? [] : [{ title, value: <Code text={text} /> }];

interface EventViewProps {
  readonly event: RecordedEvent;
  readonly lines: readonly Line[];
  readonly children?: ComponentChildren;
}

/** An event as the service shows it. */
export function EventView({ event, lines, children }: EventViewProps) {
  return (
    <li class="operation">
      <h3>
        <EvidenceText text={event.title} />
      </h3>
      <Lines lines={lines} />
      {children}
      <details>
        <summary>{ASSET_TEXTS.members}</summary>
        <Preformatted>{visibleText(JSON.stringify(event.json, null, 2))}</Preformatted>
      </details>
    </li>
  );
}
