import { useId, useState } from 'preact/hooks';
import { Choice } from './choice.js';
import { namesIn } from './conserver-names.js';
import { CONSOLE_TEXTS, STATUS_NAMES } from './console-texts.js';
import type { RecordedEvent } from './recorded-event.js';
import { isFiltered, type SearchQuery } from './search-query.js';
import { TEXTS } from './texts.js';

interface FiltersProps {
  readonly query: SearchQuery;
  /** What is found already. The names in it are offered. */
  readonly found: readonly RecordedEvent[];
  onQuery(query: SearchQuery): void;
}

/** What narrows a search: a choice, a name or a day each. */
export function FindFilters({ query, found, onQuery }: FiltersProps) {
  // Stays open when the last filter is emptied: a reader may be in the middle of typing it.
  const [isOpen, setOpen] = useState(false);
  const change = (part: Partial<SearchQuery>) => onQuery({ ...query, ...part });
  return (
    <details open={isOpen || isFiltered(query)} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{CONSOLE_TEXTS.filters}</summary>
      <div class="filters">
        <Choice
          label={CONSOLE_TEXTS.operation}
          value={query.operation}
          options={optionsOf(query.operation, TEXTS.operationNames)}
          onChoose={(operation) => change({ operation })}
        />
        <Choice
          label={CONSOLE_TEXTS.status}
          value={query.status}
          options={optionsOf(query.status, STATUS_NAMES)}
          onChoose={(status) => change({ status })}
        />
        <Day label={CONSOLE_TEXTS.since} value={query.since} onValue={(since) => change({ since })} />
        <Day label={CONSOLE_TEXTS.until} value={query.until} onValue={(until) => change({ until })} />
        <Name
          label={CONSOLE_TEXTS.chain}
          value={query.chain}
          offered={namesIn(found, 'chain')}
          onValue={(chain) => change({ chain })}
        />
        <Name
          label={CONSOLE_TEXTS.link}
          value={query.link}
          offered={namesIn(found, 'link')}
          onValue={(link) => change({ link })}
        />
        <Name
          label={CONSOLE_TEXTS.partner}
          value={query.partner}
          offered={namesIn(found, 'partner')}
          onValue={(partner) => change({ partner })}
        />
      </div>
      <p class="hint">{CONSOLE_TEXTS.namesHelp}</p>
    </details>
  );
}

/** All, then what the query has although it has no name, then what has one. */
function optionsOf(value: string, names: Readonly<Record<string, string>>): [string, string][] {
  return [['', CONSOLE_TEXTS.all], ...Object.entries({ ...(value === '' ? {} : { [value]: value }), ...names })];
}

interface ControlProps {
  readonly label: string;
  readonly value: string;
  onValue(value: string): void;
}

function Name({ label, value, offered, onValue }: ControlProps & { readonly offered: readonly string[] }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        list={`${id}-names`}
        value={value}
        placeholder={CONSOLE_TEXTS.all}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <datalist id={`${id}-names`}>
        {offered.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}

function Day({ label, value, onValue }: ControlProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="date" value={value} onChange={(event) => onValue(event.currentTarget.value)} />
    </div>
  );
}
