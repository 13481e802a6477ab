import { useState } from 'preact/hooks';
import { ActResult, ApiLink, ConfirmButton, TextField } from './act-view.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';
import { Code } from './evidence-text.js';
import { type Json, memberOf, textOf } from './json-members.js';
import { Moment } from './moment.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { readList } from './read-list.js';
import { SecretCard } from './secret-card.js';
import { readJson, sendJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { type Act, useAct } from './use-act.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.applications;
const PATH = '/archivist/iam/v1/applications';
const MOST = 1000;
const DAY_MS = 86_400_000;
/** The service warns of a secret this many days before it expires. */
const SOON_DAYS = 30;

const nameOf = (application: Json): string => textOf(application['display_name']);
const isOwner = ({ roles }: Json): boolean => Array.isArray(roles) && roles.includes('OWNER');

/** When the last secret expires; empty without one. */
function expiryOf({ credentials }: Json): string {
  const ends = (credentials as readonly Json[]).map(({ valid_until: until }) => textOf(until));
  return ends.sort().at(-1) ?? '';
}

/** The secret in the answer to a change. */
const secretOf = (answer: unknown): string =>
  textOf(memberOf((memberOf(answer, 'credentials') as readonly Json[] | undefined)?.[0], 'secret') ?? '');

interface NewSecret {
  readonly name: string;
  readonly secret: string;
  readonly clientId: string;
}

/** Applications: what there is, what expires when, and new secrets. */
export function ApplicationsView() {
  const { value, fault, reload } = useLoaded(() => readList(readJson, PATH, 'applications', MOST), []);
  const [secret, setSecret] = useState<NewSecret>();
  const act = useAct();
  const show = (answer: unknown) => {
    const name = textOf(memberOf(answer, 'display_name'));
    setSecret({ name, secret: secretOf(answer), clientId: textOf(memberOf(answer, 'client_id')) });
    reload();
    return '';
  };
  // Nobody can read it again: it stays even if the list cannot be read.
  const card = secret && (
    <SecretCard
      name={secret.name}
      secret={secret.secret}
      beside={[[TEXTS.clientId, secret.clientId]]}
      onDone={() => setSecret(undefined)}
    />
  );
  if (fault)
    return (
      <>
        {card}
        <SignIn fault={fault} onAgain={reload} />
      </>
    );
  if (!value) return <p role="status">{CONSOLE_TEXTS.loading}</p>;
  return (
    <>
      {card}
      <ActResult act={act} />
      <section class="part">
        <h2>{TEXTS.list}</h2>
        {!value.isWhole && <p class="hint">{OPERATOR_TEXTS.more(value.items.length)}</p>}
        <DataTable
          caption={TEXTS.list}
          columns={COLUMNS}
          rows={value.items}
          keyOf={({ identity }) => textOf(identity)}
          file="applications"
          empty={TEXTS.none}
          actions={(application, row) => (
            <Actions application={application} row={row} act={act} onSecret={show} onDone={reload} />
          )}
        />
      </section>
      <NewApplication act={act} onMade={show} />
      <ApiLink />
    </>
  );
}

const COLUMNS: readonly Column<Json>[] = [
  { title: TEXTS.name, text: nameOf },
  {
    title: TEXTS.clientId,
    text: ({ client_id: id }) => textOf(id),
    view: ({ client_id: id }) => <Code text={textOf(id)} />,
  },
  { title: TEXTS.roles, text: (application) => (isOwner(application) ? OPERATOR_TEXTS.owner : OPERATOR_TEXTS.noRole) },
  {
    title: TEXTS.expires,
    text: expiryOf,
    view: (application) => <Expiry until={expiryOf(application)} />,
  },
];

function Expiry({ until }: { readonly until: string }) {
  const days = Math.ceil((Date.parse(until) - Date.now()) / DAY_MS);
  const warning = days <= 0 ? TEXTS.expired : days <= SOON_DAYS ? TEXTS.soon(days) : '';
  return (
    <>
      <Moment time={until} /> {warning !== '' && <strong class="bad">{warning}</strong>}
    </>
  );
}

interface ActionsProps {
  readonly application: Json;
  readonly row: string;
  readonly act: Act;
  onSecret(answer: unknown): string;
  onDone(): void;
}

function Actions({ application, row, act, onSecret, onDone }: ActionsProps) {
  const path = `/archivist/iam/v1/${textOf(application['identity'])}`;
  const name = nameOf(application);
  const { isBusy, run } = act;
  const then = async (change: Promise<unknown>, done: string) => {
    await change;
    onDone();
    return done;
  };
  return (
    <>
      <ConfirmButton
        label={TEXTS.rotate}
        row={row}
        title={TEXTS.rotateTitle(name)}
        help={TEXTS.rotateHelp}
        isBusy={isBusy}
        onConfirm={() => run(async () => onSecret(await sendJson('POST', `${path}:regenerate-secret`)))}
      />
      <ConfirmButton
        label={TEXTS.end}
        row={row}
        title={TEXTS.endTitle(name)}
        help={TEXTS.endHelp}
        isBusy={isBusy}
        onConfirm={() => run(() => then(sendJson('POST', `${path}:revoke-tokens`), TEXTS.ended(name)))}
      />
      <ConfirmButton
        label={TEXTS.remove}
        row={row}
        title={TEXTS.removeTitle(name)}
        help={TEXTS.removeHelp}
        isBusy={isBusy}
        onConfirm={() => run(() => then(sendJson('DELETE', path), TEXTS.removed(name)))}
      />
    </>
  );
}

function NewApplication({ act, onMade }: { readonly act: Act; onMade(answer: unknown): string }) {
  const [name, setName] = useState('');
  const [asOwner, setAsOwner] = useState(false);
  const create = (event: Event) => {
    event.preventDefault();
    act.run(async () => {
      const roles = asOwner ? ['OWNER'] : [];
      const done = onMade(await sendJson('POST', PATH, { display_name: name.trim(), roles }));
      setName('');
      setAsOwner(false);
      return done;
    });
  };
  return (
    <form class="card" onSubmit={create}>
      <h2>{TEXTS.add}</h2>
      <TextField label={TEXTS.name} value={name} isRequired onText={setName} />
      <label class="check">
        <input type="checkbox" checked={asOwner} onChange={(event) => setAsOwner(event.currentTarget.checked)} />{' '}
        {TEXTS.asOwner}
      </label>
      <p class="choose">
        <button type="submit" class="primary" aria-disabled={act.isBusy}>
          {TEXTS.create}
        </button>
      </p>
    </form>
  );
}
