import { CaptureState } from './capture-state.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { DataTable } from './data-table.js';
import { Code, EvidenceText } from './evidence-text.js';
import { type Json, known, memberOf, textOf } from './json-members.js';
import { NoAnswer } from './no-answer.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { onService } from './service-path.js';
import { Unanswered } from './session-reader.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.service;

interface Health {
  readonly ready: boolean;
  readonly checks: readonly (readonly [string, string])[];
  readonly halted: readonly Json[];
}

/** An unready service says with 503 what is wrong with it. @throws {Unanswered} */
async function readHealth(): Promise<Health> {
  const response = await fetch(onService('/readyz')).catch(() => undefined);
  const body: unknown = await response?.json().catch(() => undefined);
  if (memberOf(body, 'checks') === undefined) throw new Unanswered('away', CONSOLE_TEXTS.away);
  return {
    ready: memberOf(body, 'ready') === true,
    checks: Object.entries(memberOf(body, 'checks') as Json).map(([name, state]) => [name, textOf(state)]),
    halted: (memberOf(body, 'halted_logs') ?? []) as readonly Json[],
  };
}

/** Health of the service, its queue and its logs, and what to do about a halted log. */
export function ServiceView() {
  const { value, fault, reload } = useLoaded(readHealth, []);
  if (fault) return <NoAnswer why={fault.message} onAgain={reload} />;
  if (!value) return <p role="status">{CONSOLE_TEXTS.loading}</p>;
  return (
    <>
      <section class="part">
        <p class={value.ready ? 'banner verified' : 'banner refused'}>
          <strong>{value.ready ? TEXTS.ready : TEXTS.unready}</strong>
        </p>
      </section>
      {value.halted.length > 0 && <HaltedLogs logs={value.halted} />}
      <section class="part">
        <h2>{TEXTS.checks}</h2>
        <DataTable
          caption={TEXTS.checks}
          columns={[
            { title: TEXTS.part, text: ([name]) => known(TEXTS.parts, name) ?? name },
            { title: TEXTS.state, text: ([, state]) => state },
          ]}
          rows={value.checks}
          keyOf={([name]) => name}
          file="parts"
          empty={TEXTS.none}
        />
      </section>
      <CaptureState />
      <section class="part">
        <h2>{TEXTS.links}</h2>
        <ul class="plain">
          <li>
            <a href={onService('/verifiabledata/tlog')}>{TEXTS.logsPage}</a>
          </li>
          <li>
            <a href={onService('/docs')}>{TEXTS.apiPage}</a>
          </li>
        </ul>
      </section>
    </>
  );
}

function HaltedLogs({ logs }: { readonly logs: readonly Json[] }) {
  return (
    <section class="part">
      <h2>{TEXTS.halted}</h2>
      <p>{TEXTS.haltedHelp}</p>
      <DataTable
        caption={TEXTS.halted}
        columns={[
          { title: TEXTS.log, text: ({ log }) => textOf(log), view: ({ log }) => <Code text={textOf(log)} /> },
          { title: TEXTS.kind, text: ({ kind }) => textOf(kind) },
        ]}
        rows={logs}
        keyOf={({ log }) => textOf(log)}
        file="halted-logs"
        empty={TEXTS.none}
      />
      <h3>{TEXTS.steps}</h3>
      <ol>
        {TEXTS.haltedSteps.map((step) => (
          <li key={step}>
            <EvidenceText text={step} />
          </li>
        ))}
      </ol>
      <p class="hint">{TEXTS.guide}</p>
    </section>
  );
}
