import { useMemo } from 'preact/hooks';
import { ApiLink } from './act-view.js';
import { Choice } from './choice.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, known, memberOf, textOf } from './json-members.js';
import { Moment, timeText } from './moment.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { PlaceAnchor, type PlaceLink } from './place-link.js';
import { readList } from './read-list.js';
import { type RecordedEvent, recordedEvent } from './recorded-event.js';
import { rowNames } from './row-names.js';
import { readJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { TEXTS as SHARED_TEXTS } from './texts.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.audit;
const MOST = 2000;

interface AuditProps extends PlaceLink {
  /** Only entries with this outcome; empty for all. */
  readonly outcome: string;
}

/** The security audit of the tenancy, newest first. */
export function AuditView({ outcome, onGo }: AuditProps) {
  const query = outcome === '' ? '' : `?${new URLSearchParams([['outcome', outcome]])}`;
  const path = `/archivist/v1/security_events${query}`;
  const { value, fault, reload } = useLoaded(() => readList(readJson, path, 'security_events', MOST), [path]);
  const rows = useMemo(() => value?.items.map(recordedEvent) ?? [], [value]);
  if (fault) return <SignIn fault={fault} onAgain={reload} />;
  const choose = (chosen: string) =>
    onGo(String(new URLSearchParams([['view', 'audit'], ...(chosen === '' ? [] : [['outcome', chosen]])])));
  return (
    <>
      <Choice
        label={TEXTS.show}
        value={outcome}
        options={[
          ['', TEXTS.all],
          ['failure', TEXTS.failures],
        ]}
        isInline
        onChoose={choose}
      />
      <section class="part">
        <h2>{TEXTS.list}</h2>
        {!value && <p role="status">{CONSOLE_TEXTS.loading}</p>}
        {value && !value.isWhole && <p class="hint">{OPERATOR_TEXTS.more(MOST)}</p>}
        {value && (
          <DataTable
            key={path}
            caption={TEXTS.list}
            columns={[...COLUMNS, proofColumn(rows, onGo)]}
            rows={rows}
            keyOf={({ identity }) => identity}
            file="security-audit"
            empty={TEXTS.none}
          />
        )}
      </section>
      <ApiLink />
    </>
  );
}

const attribute = (name: string) => (event: RecordedEvent) => textOf(memberOf(event.attributes, name) ?? '');

const actionOf = (event: RecordedEvent): string => attribute('action')(event).replaceAll(/[._]/g, ' ');

function actorOf({ attributes }: RecordedEvent): string {
  const actor = memberOf(attributes, 'actor');
  return textOf(memberOf(actor, 'display_name') || memberOf(actor, 'subject') || '');
}

function detailsOf({ attributes }: RecordedEvent): string {
  const details = Object.entries((memberOf(attributes, 'details') ?? {}) as Json);
  return details
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : textOf(value)}`)
    .join('; ');
}

function outcomeOf(event: RecordedEvent): string {
  const outcome = attribute('outcome')(event);
  return known(TEXTS.outcomes, outcome) ?? outcome;
}

const COLUMNS: readonly Column<RecordedEvent>[] = [
  { title: TEXTS.time, text: ({ accepted }) => accepted, view: ({ accepted }) => <Moment time={accepted} /> },
  {
    title: TEXTS.action,
    text: attribute('action'),
    view: (event) => (
      <span class="words">
        <EvidenceText text={actionOf(event)} />
      </span>
    ),
  },
  {
    title: TEXTS.outcome,
    text: outcomeOf,
    view: (event) => (
      <span class={attribute('outcome')(event) === 'failure' ? 'bad' : undefined}>
        <EvidenceText text={outcomeOf(event)} />
      </span>
    ),
  },
  { title: TEXTS.actor, text: actorOf },
  { title: TEXTS.resource, text: attribute('resource') },
  { title: TEXTS.details, text: detailsOf },
];

function proofColumn(rows: readonly RecordedEvent[], onGo: PlaceLink['onGo']): Column<RecordedEvent> {
  const names = rowNames(rows, (event) => `${actionOf(event)}, ${timeText(event.accepted)}`);
  return {
    title: TEXTS.proof,
    text: ({ identity }) => identity,
    view: (event) => (
      <PlaceAnchor
        place={{ kind: 'event', id: event.identity }}
        name={SHARED_TEXTS.ofRow(TEXTS.see, names.get(event) ?? '')}
        onGo={onGo}
      >
        {TEXTS.see}
      </PlaceAnchor>
    ),
  };
}
