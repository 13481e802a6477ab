import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Frame } from './frame.js';
import { LogView } from './log-view.js';
import { type ListedLog, readLogs } from './read-log.js';
import { faultText } from './read-service.js';
import { TEXTS } from './texts.js';

/** The order in which people look for them; a kind that this page does not know comes last. */
const KINDS = ['public', 'keys', 'private'];
const orderOf = ({ kind }: ListedLog): number => (KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length);

function LogsPage() {
  const [logs, setLogs] = useState<readonly ListedLog[]>();
  const [fault, setFault] = useState('');
  useEffect(() => {
    readLogs()
      .then((found) => setLogs(found.toSorted((left, right) => orderOf(left) - orderOf(right))))
      .catch((error: unknown) => setFault(faultText(error)));
  }, []);
  return (
    <Frame title={TEXTS.logsPage.title} introduction={TEXTS.logsPage.introduction} isSaved={false}>
      <p role="status" class="hint">
        {fault || (logs ? '' : TEXTS.asset.loading)}
      </p>
      {logs?.map((log) => (
        <LogView key={log.id} log={log} />
      ))}
    </Frame>
  );
}

render(<LogsPage />, document.getElementById('page')!);
