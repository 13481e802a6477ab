import { TextField } from './act-view.js';
import { EvidenceText } from './evidence-text.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import type { PermissionDraft } from './policy-draft.js';
import type { Organisations } from './policy-sentence.js';

const TEXTS = OPERATOR_TEXTS.access;

interface PermissionProps {
  readonly draft: PermissionDraft;
  /** In the conditions for whom it is. */
  readonly fault: string | undefined;
  /** The position in the policy, from 1. */
  readonly number: number;
  readonly organisations: Organisations;
  onDraft(draft: PermissionDraft): void;
  /** Undefined for the only one. */
  readonly onRemove: (() => void) | undefined;
}

/** For whom one permission of a policy is, and what it allows. */
export function PermissionFields({ draft, fault, number, organisations, onDraft, onRemove }: PermissionProps) {
  const field = (name: Exclude<keyof PermissionDraft, 'organisations'>) => ({
    label: TEXTS[name],
    value: draft[name],
    onText: (text: string) => onDraft({ ...draft, [name]: text }),
  });
  return (
    <fieldset class="card">
      <legend tabIndex={-1}>{TEXTS.permission(number)}</legend>
      <TextField
        {...field('people')}
        help={TEXTS.peopleHelp}
        fault={fault}
        isRequired={draft.organisations.length === 0}
        isLong
      />
      <OrganisationBoxes draft={draft} organisations={organisations} onDraft={onDraft} />
      <div class="filters pairs">
        <TextField {...field('readsAttributes')} help={TEXTS.namesHelp} />
        <TextField {...field('readsEvents')} help={TEXTS.namesHelp} />
        <TextField {...field('writesEvents')} help={TEXTS.namesHelp} />
        <TextField {...field('writesAttributes')} help={TEXTS.namesHelp} />
        <TextField {...field('behaviours')} help={TEXTS.behavioursHelp} />
      </div>
      {onRemove && (
        <p class="choose">
          <button type="button" class="quiet" onClick={onRemove}>
            {TEXTS.removePermission(number)}
          </button>
        </p>
      )}
    </fieldset>
  );
}

type BoxesProps = Pick<PermissionProps, 'draft' | 'organisations' | 'onDraft'>;

/** The organisations that there are, and those of the policy that were deleted since. */
function OrganisationBoxes({ draft, organisations, onDraft }: BoxesProps) {
  const { organisations: chosen } = draft;
  const all = [...new Set([...organisations.keys(), ...chosen])];
  if (all.length === 0) return <p class="hint">{TEXTS.noOrganisations}</p>;
  const choose = (identity: string, isChosen: boolean) => {
    const others = chosen.filter((each) => each !== identity);
    onDraft({ ...draft, organisations: isChosen ? [...others, identity] : others });
  };
  return (
    <fieldset>
      <legend>{TEXTS.organisations}</legend>
      <p class="hint">{TEXTS.organisationsHelp}</p>
      {all.map((identity) => (
        <div key={identity}>
          <label class="check">
            <input
              type="checkbox"
              checked={chosen.includes(identity)}
              onChange={(event) => choose(identity, event.currentTarget.checked)}
            />{' '}
            <EvidenceText text={organisations.get(identity) ?? identity} />
          </label>
        </div>
      ))}
    </fieldset>
  );
}
