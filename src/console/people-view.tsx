import { useState } from 'preact/hooks';
import { ActResult, ApiLink, ConfirmButton, TextField } from './act-view.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';
import { type Json, textOf } from './json-members.js';
import { Moment } from './moment.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { readList } from './read-list.js';
import { readJson, sendJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { type Act, useAct } from './use-act.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.people;
const IAM = '/archivist/iam/v1';
const INVITES = `${IAM}/invites`;
const MOST = 1000;

const isOwner = ({ roles }: Json): boolean => Array.isArray(roles) && roles.includes('OWNER');
const nameOf = ({ display_name: name, email }: Json): string => textOf(name) || textOf(email);
/** Two people may have one name. */
const rowOf = ({ display_name: name, email }: Json): string => [name, email].map(textOf).filter(Boolean).join(', ');

async function readPeople() {
  const [members, invites] = await Promise.all([
    readList(readJson, `${IAM}/members?member_state=MEMBER_STATE_BOTH`, 'members', MOST),
    readList(readJson, INVITES, 'invites', MOST),
  ]);
  return { members, invites };
}

/** Members and invites. */
export function PeopleView() {
  const { value, fault, reload } = useLoaded(readPeople, []);
  const act = useAct();
  if (fault) return <SignIn fault={fault} onAgain={reload} />;
  if (!value) return <p role="status">{CONSOLE_TEXTS.loading}</p>;
  const change = (send: () => Promise<unknown>, done = '') =>
    act.run(async () => {
      await send();
      reload();
      return done;
    });
  return (
    <>
      <ActResult act={act} />
      <section class="part">
        <h2>{TEXTS.members}</h2>
        {!value.members.isWhole && <p class="hint">{OPERATOR_TEXTS.more(MOST)}</p>}
        <DataTable
          caption={TEXTS.members}
          columns={MEMBER_COLUMNS}
          rows={value.members.items}
          keyOf={({ identity }) => textOf(identity)}
          file="members"
          empty={TEXTS.noMembers}
          nameOf={rowOf}
          actions={(member, row) => <MemberActions member={member} row={row} isBusy={act.isBusy} onChange={change} />}
        />
      </section>
      <section class="part">
        <h2>{TEXTS.invites}</h2>
        {!value.invites.isWhole && <p class="hint">{OPERATOR_TEXTS.more(MOST)}</p>}
        <DataTable
          caption={TEXTS.invites}
          columns={INVITE_COLUMNS}
          rows={value.invites.items}
          keyOf={({ identity }) => textOf(identity)}
          file="invites"
          empty={TEXTS.noInvites}
          actions={({ identity, email }, row) => (
            <ConfirmButton
              label={TEXTS.withdraw}
              row={row}
              title={TEXTS.withdrawTitle(textOf(email))}
              help={TEXTS.withdrawHelp}
              isBusy={act.isBusy}
              onConfirm={() => change(() => sendJson('DELETE', `${IAM}/${textOf(identity)}`))}
            />
          )}
        />
      </section>
      <NewInvite act={act} onChange={change} />
      <ApiLink />
    </>
  );
}

const MEMBER_COLUMNS: readonly Column<Json>[] = [
  { title: TEXTS.name, text: ({ display_name: name }) => textOf(name) },
  { title: TEXTS.email, text: ({ email }) => textOf(email) },
  { title: TEXTS.role, text: (member) => (isOwner(member) ? OPERATOR_TEXTS.owner : OPERATOR_TEXTS.noRole) },
  { title: TEXTS.state, text: ({ active }) => (active === true ? TEXTS.active : TEXTS.inactive) },
];

const INVITE_COLUMNS: readonly Column<Json>[] = [
  { title: TEXTS.email, text: ({ email }) => textOf(email) },
  {
    title: TEXTS.validUntil,
    text: ({ expiry_time: until }) => textOf(until),
    view: ({ expiry_time: until }) => <Moment time={textOf(until)} />,
  },
];

type Change = (send: () => Promise<unknown>, done?: string) => void;

interface MemberActionsProps {
  readonly member: Json;
  readonly row: string;
  readonly isBusy: boolean;
  readonly onChange: Change;
}

function MemberActions({ member, row, isBusy, onChange }: MemberActionsProps) {
  const name = nameOf(member);
  const path = `${IAM}/${textOf(member['identity'])}`;
  if (member['active'] !== true)
    return (
      <ConfirmButton
        label={TEXTS.activate}
        row={row}
        title={TEXTS.activateTitle(name)}
        help={TEXTS.activateHelp}
        isBusy={isBusy}
        onConfirm={() => onChange(() => sendJson('POST', `${path}:activate`))}
      />
    );
  const owns = isOwner(member);
  return (
    <>
      <ConfirmButton
        label={owns ? TEXTS.takeOwner : TEXTS.makeOwner}
        row={row}
        title={owns ? TEXTS.takeOwnerTitle(name) : TEXTS.makeOwnerTitle(name)}
        help={owns ? TEXTS.takeOwnerHelp : TEXTS.makeOwnerHelp}
        isBusy={isBusy}
        onConfirm={() => onChange(() => sendJson('PATCH', path, { roles: owns ? [] : ['OWNER'] }))}
      />
      <ConfirmButton
        label={TEXTS.deactivate}
        row={row}
        title={TEXTS.deactivateTitle(name)}
        help={TEXTS.deactivateHelp}
        isBusy={isBusy}
        onConfirm={() => onChange(() => sendJson('POST', `${path}:deactivate`))}
      />
    </>
  );
}

function NewInvite({ act, onChange }: { readonly act: Act; readonly onChange: Change }) {
  const [email, setEmail] = useState('');
  const [message, setMessage] = useState('');
  const send = (event: Event) => {
    event.preventDefault();
    onChange(async () => {
      await sendJson('POST', INVITES, { email: email.trim(), ...(message.trim() && { message: message.trim() }) });
      setEmail('');
      setMessage('');
    }, TEXTS.sent(email.trim()));
  };
  return (
    <form class="card" onSubmit={send}>
      <h2>{TEXTS.add}</h2>
      <TextField label={TEXTS.email} isEmail value={email} isRequired onText={setEmail} />
      <TextField label={TEXTS.message} value={message} isLong onText={setMessage} />
      <p class="choose">
        <button type="submit" class="primary" aria-disabled={act.isBusy}>
          {TEXTS.send}
        </button>
      </p>
    </form>
  );
}
