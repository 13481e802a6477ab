import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ASSET_TEXTS } from './asset-texts.js';
import { Frame } from './frame.js';
import { LOG_TEXTS } from './log-texts.js';
import { LogView } from './log-view.js';
import { NoAnswer } from './no-answer.js';
import { type ListedLog, readLogs } from './read-log.js';
import { faultText } from './read-service.js';
import { TextField } from './text-field.js';
import { usePinnedWitnesses } from './use-pinned-witnesses.js';

/** The order in which people look for them; a kind that this page does not know comes last. */
const KINDS = ['public', 'keys', 'private'];
const orderOf = ({ kind }: ListedLog): number => (KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length);

function LogsPage() {
  const [logs, setLogs] = useState<readonly ListedLog[]>();
  const [fault, setFault] = useState('');
  const { text, witnesses, fault: keyFault, change } = usePinnedWitnesses();
  const ask = () => {
    setFault('');
    readLogs()
      .then((found) => setLogs(found.toSorted((left, right) => orderOf(left) - orderOf(right))))
      .catch((error: unknown) => setFault(faultText(error)));
  };
  useEffect(ask, []);
  return (
    <Frame title={LOG_TEXTS.title} introduction={LOG_TEXTS.introduction} isSaved={false}>
      {fault !== '' && <NoAnswer why={fault} onAgain={ask} />}
      <p role="status" class="hint">
        {fault === '' && !logs ? ASSET_TEXTS.loading : ''}
      </p>
      <section class="card">
        <h2>{LOG_TEXTS.pinTitle}</h2>
        <TextField
          label={LOG_TEXTS.pin}
          help={LOG_TEXTS.pinHelp}
          fault={keyFault}
          good={witnesses.length > 0 ? LOG_TEXTS.pinned(witnesses.length) : undefined}
          value={text}
          rows={2}
          onText={change}
        />
      </section>
      {logs?.map((log) => (
        <LogView key={log.id} log={log} pinned={witnesses} />
      ))}
    </Frame>
  );
}

render(<LogsPage />, document.getElementById('page')!);
