import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { toBase64 } from '../core/bytes.js';
import { visibleText } from '../core/evidence/visible-text.js';
import type { NoteKey } from '../core/tlog/signed-note.js';
import { ASSET_TEXTS } from './asset-texts.js';
import { EntryView, logName } from './entry-view.js';
import { Code, EvidenceText } from './evidence-text.js';
import { LOG_TEXTS } from './log-texts.js';
import { Moment } from './moment.js';
import { NoAnswer } from './no-answer.js';
import { Preformatted } from './preformatted.js';
import { continues, type ListedLog, type LogState, readState } from './read-log.js';
import { faultText } from './read-service.js';
import { keepSeen, type SeenLog, seenLog } from './seen-logs.js';
import { WitnessList } from './witness-list.js';

/** A log's state, and how it compares with what this browser saw before. */
interface Found {
  readonly state: LogState;
  readonly seen?: SeenLog | undefined;
  /** False when the log no longer holds what this browser saw: it shows two histories. */
  readonly isContinued: boolean;
  /** Whether this browser has a state to compare the next one with. */
  readonly isKept: boolean;
}

interface LogProps {
  readonly log: ListedLog;
  /** Keys of witnesses that the reader knows. */
  readonly pinned: readonly NoteKey[];
}

async function findLog(log: ListedLog): Promise<Found> {
  const [state, seen] = [await readState(log), seenLog(log.origin)];
  // What nobody signed has no history: it is neither compared nor kept.
  if (state.fault !== undefined) return { state, isContinued: true, isKept: false };
  const isContinued = seen === undefined || (await continues(log, state.checkpoint, seen));
  // What contradicts stays kept: the next visit has to see the contradiction too.
  const isKept = isContinued ? keepSeen(state.checkpoint, Date.now()) : true;
  return { state, seen, isContinued, isKept };
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Growth({ found: { state, seen, isContinued, isKept } }: { readonly found: Found }) {
  if (!isContinued) return <p class="fault">{LOG_TEXTS.twoHistories}</p>;
  if (!seen) return <p>{isKept ? LOG_TEXTS.firstVisit : LOG_TEXTS.notKept}</p>;
  return (
    <p>
      {LOG_TEXTS.grown(String(state.checkpoint.size - seen.size))} <Moment time={new Date(seen.atMs).toISOString()} />.{' '}
      {LOG_TEXTS.continued}
    </p>
  );
}

function Facts({ log, found, pinned }: LogProps & { readonly found: Found }) {
  const { checkpoint, fault, note } = found.state;
  return (
    <>
      <dl class="facts">
        <Fact name={LOG_TEXTS.size}>{LOG_TEXTS.entries(checkpoint.size)}</Fact>
        {fault === undefined && (
          <Fact name={LOG_TEXTS.growth}>
            <Growth found={found} />
          </Fact>
        )}
        <Fact name={LOG_TEXTS.witnesses}>
          <WitnessList log={log} note={found.state.signed} pinned={pinned} />
        </Fact>
        <Fact name={LOG_TEXTS.signature}>
          <p class={fault === undefined ? 'good' : 'fault'}>
            <EvidenceText text={fault ?? LOG_TEXTS.signed} />
          </p>
        </Fact>
        <Fact name={LOG_TEXTS.origin}>
          <Code text={log.origin} />
        </Fact>
        <Fact name={LOG_TEXTS.root}>
          <Code text={toBase64(checkpoint.root)} />
        </Fact>
        <Fact name={LOG_TEXTS.vkey}>
          <Code text={log.vkey} />
        </Fact>
      </dl>
      <details>
        <summary>{LOG_TEXTS.note}</summary>
        <Preformatted>{visibleText(note)}</Preformatted>
      </details>
    </>
  );
}

/** One statement log: its size and growth, its newest checkpoint, and an entry by its index. */
export function LogView({ log, pinned }: LogProps) {
  const title = useId();
  const [found, setFound] = useState<Found>();
  const [fault, setFault] = useState('');
  const ask = () => {
    setFault('');
    findLog(log).then(setFound, (error: unknown) => setFault(faultText(error)));
  };
  useEffect(ask, []);
  return (
    <section class="card" aria-labelledby={title}>
      <h2 id={title}>
        <EvidenceText text={logName(log)} />
      </h2>
      {fault !== '' && <NoAnswer why={fault} onAgain={ask} />}
      {found ? (
        <Facts log={log} found={found} pinned={pinned} />
      ) : (
        fault === '' && <p class="hint">{ASSET_TEXTS.loading}</p>
      )}
      {found &&
        (log.kind === 'private' ? (
          <p class="hint">{LOG_TEXTS.isPrivate}</p>
        ) : (
          <EntryView log={log} checkpoint={found.state.checkpoint} />
        ))}
    </section>
  );
}
