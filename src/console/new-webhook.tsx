import { useState } from 'preact/hooks';
import { TextField } from './act-view.js';
import { Choice } from './choice.js';
import { type Json, textOf } from './json-members.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { sendJson } from './session-reader.js';
import type { Act } from './use-act.js';

const TEXTS = OPERATOR_TEXTS.webhooks;
const TYPES = Object.keys(TEXTS.types);

interface NewWebhookProps {
  readonly act: Act;
  readonly applications: readonly Json[];
  /** Resolves with what is said about the webhook. */
  onMade(answer: unknown): string;
}

/** The form for a webhook. */
export function NewWebhook({ act, applications, onMade }: NewWebhookProps) {
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const [application, setApplication] = useState('');
  const [types, setTypes] = useState<readonly string[]>([]);
  const create = (event: Event) => {
    event.preventDefault();
    act.run(async () => {
      const body = { display_name: name.trim(), url: address.trim(), application, event_types: types };
      const done = onMade(await sendJson('POST', '/archivist/iam/v1/webhooks', body));
      setName('');
      setAddress('');
      setTypes([]);
      return done;
    });
  };
  return (
    <form class="card" onSubmit={create}>
      <h2>{TEXTS.add}</h2>
      <TextField label={TEXTS.name} value={name} isRequired onText={setName} />
      <TextField label={TEXTS.address} help={TEXTS.addressHelp} value={address} isRequired onText={setAddress} />
      <Choice
        label={TEXTS.application}
        help={TEXTS.applicationHelp}
        value={application}
        options={[
          ['', OPERATOR_TEXTS.access.choose],
          ...applications.map(({ identity, display_name: name }) => [textOf(identity), textOf(name)] as const),
        ]}
        isRequired
        onChoose={setApplication}
      />
      <ToldTypes types={types} onTypes={setTypes} />
      <p class="choose">
        <button type="submit" class="primary" aria-disabled={act.isBusy}>
          {TEXTS.create}
        </button>
      </p>
    </form>
  );
}

interface TypesProps {
  readonly types: readonly string[];
  onTypes(types: readonly string[]): void;
}

/** What the webhook tells; the form is not submitted without any. */
function ToldTypes({ types, onTypes }: TypesProps) {
  const choose = (type: string, isChosen: boolean) =>
    onTypes(TYPES.filter((each) => (each === type ? isChosen : types.includes(each))));
  return (
    <fieldset>
      <legend>{TEXTS.tells}</legend>
      {TYPES.map((type, at) => (
        <div key={type}>
          <label class="check">
            <input
              // The browser points at the first box.
              ref={(box) => box?.setCustomValidity(at === 0 && types.length === 0 ? TEXTS.nothingToTell : '')}
              type="checkbox"
              checked={types.includes(type)}
              onChange={(event) => choose(type, event.currentTarget.checked)}
            />{' '}
            {TEXTS.types[type]}
          </label>
        </div>
      ))}
    </fieldset>
  );
}
