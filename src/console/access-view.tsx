import { useEffect, useRef, useState } from 'preact/hooks';
import { ActResult, ApiLink, ConfirmButton } from './act-view.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, textOf } from './json-members.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { draftOf, NEW_DRAFT } from './policy-draft.js';
import { type Edited, organisationNames, PolicyForm } from './policy-form.js';
import type { Organisations, PolicyBody } from './policy-sentence.js';
import { Sentences } from './policy-words.js';
import { readList } from './read-list.js';
import { rowNames } from './row-names.js';
import { readJson, sendJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { TEXTS as SHARED_TEXTS } from './texts.js';
import { type Act, useAct } from './use-act.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.access;
const IAM = '/archivist/iam/v1';
const POLICIES = `${IAM}/access_policies`;
const MOST = 1000;
/** The own organisation, which a policy never names. */
const SELF = 'subjects/00000000-0000-0000-0000-000000000000';

async function readPolicies() {
  const [policies, subjects] = await Promise.all([
    readList(readJson, POLICIES, 'access_policies', MOST),
    readList(readJson, `${IAM}/subjects`, 'subjects'),
  ]);
  return { ...policies, organisations: subjects.items.filter(({ identity }) => identity !== SELF) };
}

/** Access policies in words; a policy is tried for a person before it is saved. */
export function AccessView() {
  const { value, fault, reload } = useLoaded(readPolicies, []);
  const [edited, setEdited] = useState<Edited>();
  const act = useAct();
  const add = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  useEffect(() => {
    if (wasEdited.current && !edited) add.current?.focus();
    wasEdited.current = edited !== undefined;
  }, [edited]);
  if (fault) return <SignIn fault={fault} onAgain={reload} />;
  if (!value) return <p role="status">{CONSOLE_TEXTS.loading}</p>;
  const save = (body: PolicyBody) =>
    act.run(async () => {
      const path = edited?.identity === undefined ? POLICIES : `${IAM}/${edited.identity}`;
      await sendJson(edited?.identity === undefined ? 'POST' : 'PATCH', path, body);
      setEdited(undefined);
      reload();
      return TEXTS.saved(body.display_name);
    });
  return (
    <>
      <ActResult act={act} />
      {edited ? (
        <PolicyForm
          key={edited.identity}
          edited={edited}
          organisations={value.organisations}
          isBusy={act.isBusy}
          onSave={save}
          onCancel={() => setEdited(undefined)}
        />
      ) : (
        <p class="choose">
          <button ref={add} type="button" class="primary" onClick={() => setEdited({ draft: NEW_DRAFT })}>
            {TEXTS.add}
          </button>
        </p>
      )}
      <PolicyList found={value} act={act} onEdit={setEdited} onDone={reload} />
      <ApiLink />
    </>
  );
}

interface ListProps {
  readonly found: Awaited<ReturnType<typeof readPolicies>>;
  readonly act: Act;
  onEdit(edited: Edited): void;
  onDone(): void;
}

function PolicyList({ found: { items, isWhole, organisations }, act, onEdit, onDone }: ListProps) {
  const named = organisationNames(organisations);
  const rows = rowNames(items, ({ display_name: name }) => textOf(name));
  return (
    <section class="part">
      <h2>{TEXTS.list}</h2>
      {items.length === 0 && <p class="hint">{TEXTS.none}</p>}
      {!isWhole && <p class="hint">{OPERATOR_TEXTS.more(MOST)}</p>}
      <ul class="timeline">
        {items.map((policy) => (
          <Policy
            key={textOf(policy['identity'])}
            policy={policy}
            row={rows.get(policy) ?? ''}
            organisations={named}
            act={act}
            onEdit={onEdit}
            onDone={onDone}
          />
        ))}
      </ul>
    </section>
  );
}

interface PolicyProps extends Omit<ListProps, 'found'> {
  readonly policy: Json;
  readonly row: string;
  readonly organisations: Organisations;
}

function Policy({ policy, row, organisations, act, onEdit, onDone }: PolicyProps) {
  const body = policy as unknown as PolicyBody;
  const identity = textOf(policy['identity']);
  const draft = draftOf(body);
  const remove = () =>
    act.run(async () => {
      await sendJson('DELETE', `${IAM}/${identity}`);
      onDone();
      return '';
    });
  return (
    <li class="operation">
      <h3>
        <EvidenceText text={body.display_name} />
      </h3>
      <Sentences body={body} organisations={organisations} />
      {draft === undefined && <p class="hint">{TEXTS.byApi}</p>}
      <p class="policy">
        {draft && (
          <button
            type="button"
            class="quiet"
            aria-label={SHARED_TEXTS.ofRow(TEXTS.change, row)}
            onClick={() => onEdit({ draft, identity })}
          >
            {TEXTS.change}
          </button>
        )}
        <ConfirmButton
          label={TEXTS.remove}
          row={row}
          title={TEXTS.removeTitle(body.display_name)}
          help={TEXTS.removeHelp}
          isBusy={act.isBusy}
          onConfirm={remove}
        />
      </p>
    </li>
  );
}
