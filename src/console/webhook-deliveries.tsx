import { useId, useState } from 'preact/hooks';
import { ActResult } from './act-view.js';
import { Choice } from './choice.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, known, textOf } from './json-members.js';
import { Moment, timeText } from './moment.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { readList } from './read-list.js';
import { readJson, sendJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { TEXTS as SHARED_TEXTS } from './texts.js';
import { useAct } from './use-act.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.webhooks;
const MOST = 200;

const isPending = ({ status }: Json): boolean => status === 'PENDING';

const whatOf = ({ event_type: type }: Json): string => known(TEXTS.types, type) ?? textOf(type);
const nameOf = (delivery: Json): string => `${whatOf(delivery)}, ${timeText(textOf(delivery['created_at']))}`;

const COLUMNS: readonly Column<Json>[] = [
  {
    title: TEXTS.made,
    text: ({ created_at: at }) => textOf(at),
    view: ({ created_at: at }) => <Moment time={textOf(at)} />,
  },
  { title: TEXTS.what, text: whatOf },
  {
    title: TEXTS.status,
    text: ({ status }) => known(TEXTS.statuses, status) ?? textOf(status),
    view: ({ status }) => (
      <span class={status === 'SET_ASIDE' ? 'bad' : undefined}>{known(TEXTS.statuses, status) ?? textOf(status)}</span>
    ),
  },
  { title: TEXTS.attempts, text: ({ attempts }) => textOf(attempts), isNumber: true },
  {
    title: TEXTS.next,
    text: (delivery) => (isPending(delivery) ? textOf(delivery['next_attempt_at']) : ''),
    view: (delivery) => (isPending(delivery) ? <Moment time={textOf(delivery['next_attempt_at'])} /> : null),
  },
  { title: TEXTS.error, text: ({ last_error: error }) => textOf(error) },
];

/** What was delivered to a webhook, newest first, and what was not. */
export function WebhookDeliveries({ webhook }: { readonly webhook: Json }) {
  const id = useId();
  const [status, setStatus] = useState('');
  const path = `/archivist/iam/v1/${textOf(webhook['identity'])}/deliveries`;
  const query = status === '' ? '' : `?status=${status}`;
  const { value, fault, reload } = useLoaded(() => readList(readJson, path + query, 'deliveries', MOST), [status]);
  const act = useAct();
  const replay = (delivery: Json) =>
    act.run(async () => {
      await sendJson('POST', `/archivist/iam/v1/${textOf(delivery['identity'])}:replay`);
      reload();
      return TEXTS.replayed;
    });
  return (
    <section class="part" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <EvidenceText text={TEXTS.deliveriesOf(textOf(webhook['display_name']))} />
      </h2>
      <p class="hint">{TEXTS.deliveriesHelp}</p>
      <Choice
        label={TEXTS.status}
        value={status}
        options={[['', TEXTS.all], ...Object.entries(TEXTS.statuses)]}
        isInline
        onChoose={setStatus}
      >
        <button type="button" onClick={reload}>
          {TEXTS.again}
        </button>
      </Choice>
      <ActResult act={act} />
      {fault && <SignIn fault={fault} onAgain={reload} />}
      {!value && !fault && <p role="status">{CONSOLE_TEXTS.loading}</p>}
      {value && !value.isWhole && <p class="hint">{OPERATOR_TEXTS.more(value.items.length)}</p>}
      {value && (
        <DataTable
          caption={TEXTS.deliveries}
          columns={COLUMNS}
          rows={value.items}
          keyOf={({ identity }) => textOf(identity)}
          file="deliveries"
          empty={TEXTS.noDeliveries}
          nameOf={nameOf}
          actions={(delivery, row) => (
            <button
              type="button"
              class="quiet"
              aria-label={SHARED_TEXTS.ofRow(TEXTS.replay, row)}
              aria-disabled={act.isBusy}
              onClick={() => replay(delivery)}
            >
              {TEXTS.replay}
            </button>
          )}
        />
      )}
    </section>
  );
}
