import { useState } from 'preact/hooks';
import { ActResult, ApiLink, ConfirmButton } from './act-view.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, known, memberOf, textOf } from './json-members.js';
import { NewWebhook } from './new-webhook.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { readList } from './read-list.js';
import { SecretCard } from './secret-card.js';
import { readJson, sendJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { TEXTS as SHARED_TEXTS } from './texts.js';
import { useAct } from './use-act.js';
import { useLoaded } from './use-loaded.js';
import { WebhookDeliveries } from './webhook-deliveries.js';

const TEXTS = OPERATOR_TEXTS.webhooks;
const PATH = '/archivist/iam/v1/webhooks';
const MOST = 1000;

const nameOf = (webhook: Json): string => textOf(webhook['display_name']);

async function load() {
  const [webhooks, applications] = await Promise.all([
    readList(readJson, PATH, 'webhooks', MOST),
    readList(readJson, '/archivist/iam/v1/applications', 'applications'),
  ]);
  return { webhooks, applications: applications.items };
}

/** Webhooks: which program is told what, new ones, and what was delivered. */
export function WebhooksView() {
  const { value, fault, reload } = useLoaded(load, []);
  const [made, setMade] = useState<{ readonly name: string; readonly secret: string }>();
  const [shown, setShown] = useState<Json>();
  const act = useAct();
  // Nobody can read it again: it stays even if the list cannot be read.
  const card = made && <SecretCard name={made.name} secret={made.secret} onDone={() => setMade(undefined)} />;
  if (fault)
    return (
      <>
        {card}
        <SignIn fault={fault} onAgain={reload} />
      </>
    );
  if (!value) return <p role="status">{CONSOLE_TEXTS.loading}</p>;
  const { webhooks, applications } = value;
  const show = (answer: unknown) => {
    setMade({ name: textOf(memberOf(answer, 'display_name')), secret: textOf(memberOf(answer, 'secret')) });
    reload();
    return '';
  };
  const remove = (webhook: Json) =>
    act.run(async () => {
      await sendJson('DELETE', `/archivist/iam/v1/${textOf(webhook['identity'])}`);
      if (shown?.['identity'] === webhook['identity']) setShown(undefined);
      reload();
      return TEXTS.removed(nameOf(webhook));
    });
  return (
    <>
      {card}
      <ActResult act={act} />
      <section class="part">
        <h2>{TEXTS.list}</h2>
        {!webhooks.isWhole && <p class="hint">{OPERATOR_TEXTS.more(webhooks.items.length)}</p>}
        <DataTable
          caption={TEXTS.list}
          columns={columnsFor(applications)}
          rows={webhooks.items}
          keyOf={({ identity }) => textOf(identity)}
          file="webhooks"
          empty={TEXTS.none}
          actions={(webhook, row) => (
            <WebhookButtons
              webhook={webhook}
              row={row}
              isBusy={act.isBusy}
              onDeliveries={() => setShown(webhook)}
              onRemove={() => remove(webhook)}
            />
          )}
        />
      </section>
      {shown && <WebhookDeliveries key={textOf(shown['identity'])} webhook={shown} />}
      <NewWebhook act={act} applications={applications} onMade={show} />
      <ApiLink />
    </>
  );
}

interface ButtonsProps {
  readonly webhook: Json;
  readonly row: string;
  readonly isBusy: boolean;
  onDeliveries(): void;
  onRemove(): void;
}

function WebhookButtons({ webhook, row, isBusy, onDeliveries, onRemove }: ButtonsProps) {
  return (
    <>
      <button type="button" class="quiet" aria-label={SHARED_TEXTS.ofRow(TEXTS.deliveries, row)} onClick={onDeliveries}>
        {TEXTS.deliveries}
      </button>
      <ConfirmButton
        label={TEXTS.remove}
        row={row}
        title={TEXTS.removeTitle(nameOf(webhook))}
        help={TEXTS.removeHelp}
        isBusy={isBusy}
        onConfirm={onRemove}
      />
    </>
  );
}

/** The words for the types that a webhook tells. */
const told = ({ event_types: types }: Json): string =>
  (types as readonly string[]).map((type) => known(TEXTS.types, type) ?? type).join(', ');

function columnsFor(applications: readonly Json[]): readonly Column<Json>[] {
  const names = new Map(applications.map((each) => [each['identity'], textOf(each['display_name'])]));
  return [
    { title: TEXTS.name, text: nameOf },
    { title: TEXTS.application, text: ({ application }) => names.get(application) ?? textOf(application) },
    {
      title: TEXTS.address,
      text: ({ url }) => textOf(url),
      view: ({ url }) => <EvidenceText text={textOf(url)} />,
    },
    { title: TEXTS.tells, text: told },
  ];
}
