import { useEffect, useId, useState } from 'preact/hooks';
import { toHex } from '../core/bytes.js';
import { VerificationError } from '../core/errors.js';
import { kindName, kindOf } from '../core/evidence/evidence-kind.js';
import { readLogClaims } from '../core/receipt/log-claims.js';
import { sha256 } from '../core/sha256.js';
import { decodeStatement } from '../core/statement/decode-statement.js';
import type { Checkpoint } from '../core/tlog/checkpoint.js';
import { HexView } from './bytes-view.js';
import { Code, EvidenceText } from './evidence-text.js';
import { LOG_TEXTS } from './log-texts.js';
import { type ListedLog, type LogEntry, readEntry } from './read-log.js';
import { faultText } from './read-service.js';
import { saveFile } from './save-file.js';
import { TEXTS } from './texts.js';

/** What a log is called. */
export const logName = ({ kind }: ListedLog): string => LOG_TEXTS.kinds[kind] ?? kind;

/** What an entry says of itself. Its own signature is not checked here. */
function names(bytes: Uint8Array): { readonly issuer?: string; readonly subject?: string } {
  try {
    return readLogClaims(decodeStatement(bytes).protectedHeader);
  } catch (error) {
    if (error instanceof VerificationError) return {};
    throw error;
  }
}

function Entry({ log, entry: { index, bytes, isProven } }: { readonly log: ListedLog; readonly entry: LogEntry }) {
  const { issuer, subject } = names(bytes);
  const rows: readonly (readonly [string, string | undefined])[] = [
    [LOG_TEXTS.kind, kindName(kindOf(bytes))],
    [LOG_TEXTS.entryIssuer, issuer],
    [TEXTS.facts['subject']!, subject],
  ];
  return (
    <>
      <p class={isProven ? 'good' : 'fault'}>{isProven ? LOG_TEXTS.proven : LOG_TEXTS.notProven}</p>
      <dl class="facts">
        {rows.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <EvidenceText text={value} />
                </dd>
              </div>
            ),
        )}
        <div>
          <dt>SHA-256</dt>
          <dd>
            <Code text={toHex(sha256(bytes))} />
          </dd>
        </div>
      </dl>
      <details>
        <summary>{TEXTS.path.inHex(bytes.length)}</summary>
        <HexView bytes={bytes} />
      </details>
      <p class="choose">
        <button
          type="button"
          aria-label={TEXTS.ofRow(LOG_TEXTS.save, logName(log))}
          onClick={() => saveFile(`${log.kind}-${index}.cose`, new Blob([new Uint8Array(bytes)]))}
        >
          {LOG_TEXTS.save}
        </button>
      </p>
    </>
  );
}

interface EntryViewProps {
  readonly log: ListedLog;
  readonly checkpoint: Checkpoint;
}

/** The entry that the address names: `#<log>/<index>`. */
function indexInAddress({ id }: ListedLog): string {
  const [log, index] = location.hash.slice(1).split('/');
  return log === id && index !== undefined ? index : '';
}

/** An entry by its index, which the address bar keeps. */
export function EntryView({ log, checkpoint }: EntryViewProps) {
  const id = useId();
  const [typed, setTyped] = useState(() => indexInAddress(log));
  const [entry, setEntry] = useState<LogEntry>();
  const [fault, setFault] = useState('');
  const show = async (text: string) => {
    setEntry(undefined);
    const index = /^\d{1,18}$/.test(text.trim()) ? BigInt(text.trim()) : undefined;
    if (index === undefined || index >= checkpoint.size) return setFault(LOG_TEXTS.noEntry(checkpoint.size));
    setFault('');
    history.replaceState(null, '', `#${log.id}/${index}`);
    return readEntry(log, checkpoint, index).then(setEntry, (error: unknown) => setFault(faultText(error)));
  };
  useEffect(() => {
    if (typed !== '') void show(typed);
  }, []);
  if (checkpoint.size === 0n) return null;
  return (
    <>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          void show(typed);
        }}
      >
        <label for={id}>{LOG_TEXTS.entry(checkpoint.size)}</label>
        <input
          id={id}
          type="text"
          inputMode="numeric"
          autocomplete="off"
          value={typed}
          aria-invalid={fault !== ''}
          aria-describedby={`${id}-fault`}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />{' '}
        <button type="submit" aria-label={TEXTS.ofRow(LOG_TEXTS.show, logName(log))}>
          {LOG_TEXTS.show}
        </button>
        <p id={`${id}-fault`} class="fault" role="status">
          {fault}
        </p>
      </form>
      {entry && <Entry log={log} entry={entry} />}
    </>
  );
}
