import { useState } from 'preact/hooks';
import { TextField } from './act-view.js';
import { Choice } from './choice.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, memberOf, textOf } from './json-members.js';
import { NoAnswer } from './no-answer.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import {
  matching,
  type Person,
  permissionsOf,
  personOfApplication,
  personOfMember,
  personOfSubject,
} from './policy-draft.js';
import { type PolicyBody, policySentences } from './policy-sentence.js';
import { readList } from './read-list.js';
import { readJson } from './session-reader.js';
import { SignInAgain } from './sign-in-view.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = OPERATOR_TEXTS.access;
const MOST = 1000;
const SHOWN = 5;

async function readScene() {
  const [members, applications, assets] = await Promise.all([
    readList(readJson, '/archivist/iam/v1/members', 'members'),
    readList(readJson, '/archivist/iam/v1/applications', 'applications'),
    readList(readJson, '/archivist/v2/assets', 'assets', MOST),
  ]);
  return { people: [...members.items, ...applications.items], assets: assets.items };
}

interface TrialProps {
  readonly body: PolicyBody;
  /** Subjects of other organisations. */
  readonly organisations: readonly Json[];
}

/** What a policy would give to a person or an organisation, over the assets that there are. */
export function PolicyTrial({ body, organisations }: TrialProps) {
  const { value, fault, reload } = useLoaded(readScene, []);
  const [chosen, setChosen] = useState('');
  const [groups, setGroups] = useState('');
  if (fault)
    return (
      <section class="part">
        <h3>{TEXTS.tryTitle}</h3>
        <NoAnswer why={fault.message} onAgain={reload} />
        {fault.reason === 'signed_out' && <SignInAgain />}
      </section>
    );
  if (!value) return null;
  const choices = [...value.people, ...organisations];
  const found = choices.find(({ identity }) => identity === chosen);
  const isMember = chosen.startsWith('members/');
  return (
    <section class="part">
      <h3>{TEXTS.tryTitle}</h3>
      <p class="hint">{TEXTS.tryHelp}</p>
      <div class="filters">
        <Choice
          label={TEXTS.person}
          value={chosen}
          options={[
            ['', TEXTS.choose],
            ...choices.map(
              ({ identity, display_name: name, email }) => [textOf(identity), textOf(name) || textOf(email)] as const,
            ),
          ]}
          onChoose={setChosen}
        />
        {isMember && <TextField label={TEXTS.groups} value={groups} onText={setGroups} />}
      </div>
      <div aria-live="polite">
        {found && (
          <Outcome
            body={body}
            person={isMember ? personOfMember(found, groups.split(/\s*,\s*/)) : personOf(found)}
            isPending={found['confirmation_status'] === 'PENDING'}
            assets={value.assets}
          />
        )}
      </div>
    </section>
  );
}

const personOf = (found: Json): Person =>
  textOf(found['identity']).startsWith('subjects/') ? personOfSubject(found) : personOfApplication(found);

interface OutcomeProps {
  readonly body: PolicyBody;
  readonly person: Person;
  /** Of an organisation that has not imported this one. */
  readonly isPending: boolean;
  readonly assets: readonly Json[];
}

function Outcome({ body, person, isPending, assets }: OutcomeProps) {
  const permissions = permissionsOf(body, person);
  if (permissions.length === 0)
    return (
      <p>
        <EvidenceText text={TEXTS.notNamed(person.name)} />
      </p>
    );
  const found = matching(body, assets);
  const given = policySentences({ ...body, access_permissions: permissions }, person.name).slice(1);
  return (
    <>
      <p>
        <EvidenceText text={TEXTS.named(person.name, found.length, assets.length)} />
      </p>
      {isPending && <p class="fault">{TEXTS.pending}</p>}
      <ul class="plain">
        {given.map((text) => (
          <li key={text}>
            <EvidenceText text={text} />
          </li>
        ))}
        {found.slice(0, SHOWN).map((asset) => (
          <li key={textOf(asset['identity'])}>
            <EvidenceText text={textOf(memberOf(asset['attributes'], 'arc_display_name') ?? asset['identity'])} />
          </li>
        ))}
        {found.length > SHOWN && <li>{TEXTS.others(found.length - SHOWN)}</li>}
      </ul>
    </>
  );
}
