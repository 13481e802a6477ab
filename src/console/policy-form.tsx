import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from './act-view.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, textOf } from './json-members.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { PermissionFields } from './permission-fields.js';
import { bodyOf, faultsOf, NEW_PERMISSION, type PermissionDraft, type PolicyDraft } from './policy-draft.js';
import type { Organisations, PolicyBody } from './policy-sentence.js';
import { PolicyTrial } from './policy-trial.js';
import { Sentences } from './policy-words.js';

const TEXTS = OPERATOR_TEXTS.access;

/** A policy that is being written. */
export interface Edited {
  readonly draft: PolicyDraft;
  /** Of the policy that it changes; a new one has none. */
  readonly identity?: string;
}

interface FormProps {
  readonly edited: Edited;
  /** Their subjects. */
  readonly organisations: readonly Json[];
  readonly isBusy: boolean;
  onSave(body: PolicyBody): void;
  onCancel(): void;
}

/** How sentences name organisations. */
export const organisationNames = (subjects: readonly Json[]): Organisations =>
  new Map(subjects.map((each) => [textOf(each['identity']), textOf(each['display_name'])]));

/** Writes a policy, shows it in words, and tries it for a person before it is saved. */
export function PolicyForm({ edited, organisations, isBusy, onSave, onCancel }: FormProps) {
  const [draft, setDraft] = useState(edited.draft);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const body = bodyOf(draft);
  const faults = faultsOf(body);
  const isReadable = !faults.assets && !faults.people.some(Boolean);
  const named = organisationNames(organisations);
  const field = (name: 'name' | 'assets') => ({
    label: TEXTS[name],
    value: draft[name],
    onText: (text: string) => setDraft((before) => ({ ...before, [name]: text })),
  });
  const save = (event: Event) => {
    event.preventDefault();
    if (isReadable && !isBusy) onSave(body);
  };
  return (
    <form class="card" onSubmit={save}>
      <h2 ref={title} tabIndex={-1}>
        <EvidenceText text={edited.identity === undefined ? TEXTS.add : TEXTS.changing(edited.draft.name)} />
      </h2>
      <TextField {...field('name')} isRequired />
      <TextField {...field('assets')} help={TEXTS.assetsHelp} fault={faults.assets} isLong />
      <Permissions draft={draft} faults={faults.people} organisations={named} onDraft={setDraft} />
      <section class="part" aria-live="polite">
        <h3>{TEXTS.inWords}</h3>
        {isReadable ? <Sentences body={body} organisations={named} /> : <p class="hint">{TEXTS.noWords}</p>}
      </section>
      {isReadable && <PolicyTrial body={body} organisations={organisations} />}
      <p class="choose">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {TEXTS.save}
        </button>{' '}
        <button type="button" onClick={onCancel}>
          {OPERATOR_TEXTS.cancel}
        </button>
      </p>
    </form>
  );
}

interface PermissionsProps {
  readonly draft: PolicyDraft;
  /** In the conditions for whom each permission is. */
  readonly faults: readonly (string | undefined)[];
  readonly organisations: Organisations;
  onDraft(draft: PolicyDraft): void;
}

/** Each permission of a policy; a new one takes the focus, and so does the button when one is removed. */
function Permissions({ draft, faults, organisations, onDraft }: PermissionsProps) {
  const fields = useRef<HTMLDivElement>(null);
  const adding = useRef<HTMLButtonElement>(null);
  const count = draft.permissions.length;
  const before = useRef(count);
  useEffect(() => {
    if (count > before.current)
      fields.current?.querySelector<HTMLElement>(':scope > fieldset:last-child > legend')?.focus();
    if (count < before.current) adding.current?.focus();
    before.current = count;
  }, [count]);
  const set = (permissions: readonly PermissionDraft[]) => onDraft({ ...draft, permissions });
  return (
    <>
      <div ref={fields}>
        {draft.permissions.map((permission, at) => (
          <PermissionFields
            key={at}
            draft={permission}
            fault={faults[at]}
            number={at + 1}
            organisations={organisations}
            onDraft={(changed) => set(draft.permissions.map((each, other) => (other === at ? changed : each)))}
            onRemove={count > 1 ? () => set(draft.permissions.filter((_, other) => other !== at)) : undefined}
          />
        ))}
      </div>
      <p class="choose">
        <button ref={adding} type="button" onClick={() => set([...draft.permissions, NEW_PERMISSION])}>
          {TEXTS.addPermission}
        </button>
      </p>
    </>
  );
}
