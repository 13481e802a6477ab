import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from './act-view.js';
import { EvidenceText } from './evidence-text.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { bodyOf, faultOf, type PolicyDraft } from './policy-draft.js';
import type { PolicyBody } from './policy-sentence.js';
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
  readonly isBusy: boolean;
  onSave(body: PolicyBody): void;
  onCancel(): void;
}

/** Writes a policy, shows it in words, and tries it for a person before it is saved. */
export function PolicyForm({ edited, isBusy, onSave, onCancel }: FormProps) {
  const [draft, setDraft] = useState(edited.draft);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const body = bodyOf(draft);
  const fault = faultOf(body);
  const field = (name: keyof PolicyDraft) => ({
    label: TEXTS[name],
    value: draft[name],
    onText: (text: string) => setDraft((before) => ({ ...before, [name]: text })),
  });
  const save = (event: Event) => {
    event.preventDefault();
    if (fault === undefined) onSave(body);
  };
  return (
    <form class="card" onSubmit={save}>
      <h2 ref={title} tabIndex={-1}>
        <EvidenceText text={edited.identity === undefined ? TEXTS.add : TEXTS.changing(edited.draft.name)} />
      </h2>
      <TextField {...field('name')} isRequired />
      <TextField {...field('assets')} help={TEXTS.assetsHelp} isLong />
      <TextField {...field('people')} help={TEXTS.peopleHelp} isRequired isLong />
      <div class="filters pairs">
        <TextField {...field('readsAttributes')} help={TEXTS.namesHelp} />
        <TextField {...field('readsEvents')} help={TEXTS.namesHelp} />
        <TextField {...field('writesEvents')} help={TEXTS.namesHelp} />
        <TextField {...field('writesAttributes')} help={TEXTS.namesHelp} />
      </div>
      <section class="part" aria-live="polite">
        <h3>{TEXTS.inWords}</h3>
        {fault === undefined ? (
          <Sentences body={body} />
        ) : (
          <p class="fault">
            <EvidenceText text={fault} />
          </p>
        )}
      </section>
      {fault === undefined && <PolicyTrial body={body} />}
      <p class="choose">
        <button type="submit" class="primary" disabled={isBusy || fault !== undefined}>
          {TEXTS.save}
        </button>{' '}
        <button type="button" onClick={onCancel}>
          {OPERATOR_TEXTS.cancel}
        </button>
      </p>
    </form>
  );
}
