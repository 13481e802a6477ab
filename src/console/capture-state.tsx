import { h } from 'preact';
import { type Column, DataTable } from './data-table.js';
import { Code, EvidenceText } from './evidence-text.js';
import { type Json, textOf } from './json-members.js';
import { Moment } from './moment.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { readList } from './read-list.js';
import { readJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.service.capture;
/** A plugin reports every minute. */
const SILENT_MS = 5 * 60_000;

async function load() {
  const [reports, applications] = await Promise.all([
    readList(readJson, '/archivist/v1/capture_reports', 'capture_reports'),
    readList(readJson, '/archivist/iam/v1/applications', 'applications'),
  ]);
  const names = new Map(applications.items.map((each) => [each['identity'], textOf(each['display_name'])]));
  return reports.items.map((report) => ({
    report,
    name: names.get(report['application']) ?? textOf(report['application']),
  }));
}

interface Reported {
  readonly report: Json;
  readonly name: string;
}

const listOf = (report: Json, member: 'letters' | 'gaps'): readonly Json[] => report[member] as readonly Json[];
const isSilent = (report: Json): boolean => Date.parse(textOf(report['reported_at'])) < Date.now() - SILENT_MS;

/** The queues that plugins deliver from, their dead letters, and the gaps that they found. */
export function CaptureState() {
  const { value, fault, reload } = useLoaded(load, []);
  if (fault)
    return (
      <section class="part">
        <h2>{TEXTS.title}</h2>
        <SignIn fault={fault} onAgain={reload} />
      </section>
    );
  if (!value) return null;
  const letters = value.flatMap(({ report }) => listOf(report, 'letters'));
  const gaps = value.flatMap(({ report }) => listOf(report, 'gaps'));
  return (
    <section class="part">
      <h2>{TEXTS.title}</h2>
      <DataTable
        caption={TEXTS.title}
        columns={COLUMNS}
        rows={value}
        keyOf={({ report }) => textOf(report['identity'])}
        file="capture"
        empty={TEXTS.none}
      />
      {letters.length > 0 && (
        <>
          <h3>{TEXTS.letters}</h3>
          <p class="hint">{TEXTS.lettersHelp}</p>
          <DataTable
            caption={TEXTS.letters}
            columns={LETTER_COLUMNS}
            rows={letters}
            keyOf={({ job }) => textOf(job)}
            file="dead-letters"
            empty=""
          />
        </>
      )}
      {gaps.length > 0 && (
        <>
          <h3>{TEXTS.gaps}</h3>
          <p class="hint">{TEXTS.gapsHelp}</p>
          <DataTable
            caption={TEXTS.gaps}
            columns={[
              { title: TEXTS.day, text: ({ day }) => textOf(day) },
              { title: TEXTS.vcons, text: ({ vcons }) => textOf(vcons), isNumber: true },
            ]}
            rows={gaps}
            keyOf={({ day, payloads }) => textOf(day) + textOf(payloads)}
            file="gaps"
            empty=""
          />
        </>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<Reported>[] = [
  { title: TEXTS.plugin, text: ({ name }) => name },
  {
    title: TEXTS.reported,
    text: ({ report }) => textOf(report['reported_at']),
    view: ({ report }) => (
      <>
        <Moment time={textOf(report['reported_at'])} />{' '}
        {isSilent(report) && <strong class="bad">{TEXTS.silent}</strong>}
      </>
    ),
  },
  {
    title: TEXTS.depth,
    text: ({ report }) => textOf(report['depth']) + (report['exact'] === true ? '' : TEXTS.orMore),
    isNumber: true,
  },
  {
    title: TEXTS.oldest,
    text: ({ report }) => TEXTS.seconds(Math.round(Number(report['oldest_seconds']))),
    isNumber: true,
  },
  {
    title: TEXTS.letters,
    text: ({ report }) => textOf(report['dead_letters']),
    view: ({ report }) => (
      <span class={report['dead_letters'] === 0 ? undefined : 'bad'}>{textOf(report['dead_letters'])}</span>
    ),
    isNumber: true,
  },
  { title: TEXTS.gapDays, text: ({ report }) => String(listOf(report, 'gaps').length), isNumber: true },
];

const code = (member: string, title: string): Column<Json> => ({
  title,
  text: (letter) => textOf(letter[member] ?? ''),
  view: (letter) => <Code text={textOf(letter[member] ?? '')} />,
});

/** A narrow column breaks `vcon_created` after the underscore, not in a word. */
function OperationName({ name }: { readonly name: string }) {
  const words = name.split(/(?<=_)/);
  return h('span', null, ...words.flatMap((text) => [h(EvidenceText, { text }), h('wbr', null)]));
}

const LETTER_COLUMNS: readonly Column<Json>[] = [
  {
    title: TEXTS.failed,
    text: ({ failed_at: at }) => textOf(at),
    view: ({ failed_at: at }) => <Moment time={textOf(at)} />,
  },
  {
    title: TEXTS.operation,
    text: ({ operation }) => textOf(operation),
    view: ({ operation }) => <OperationName name={textOf(operation)} />,
  },
  code('subject', TEXTS.conversation),
  code('payload', TEXTS.payload),
  code('job', TEXTS.job),
];
