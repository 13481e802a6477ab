import { useEffect, useState } from 'preact/hooks';
import { decodeVkey, type NoteKey, type SignedNote } from '../core/tlog/signed-note.js';
import { type Cosigner, checkCosigners } from './check-cosigners.js';
import { EvidenceText } from './evidence-text.js';
import { LOG_TEXTS } from './log-texts.js';
import { Moment } from './moment.js';
import type { ListedLog } from './read-log.js';
import { readWitnesses } from './stated-trust.js';
import { TEXTS } from './texts.js';

interface WitnessListProps {
  readonly log: ListedLog;
  /** The log's newest checkpoint. */
  readonly note: SignedNote;
  readonly pinned: readonly NoteKey[];
}

/** Who cosigned a log's newest checkpoint, each checked with its key. */
export function WitnessList({ log, note, pinned }: WitnessListProps) {
  const [cosigners, setCosigners] = useState<readonly Cosigner[]>();
  useEffect(() => {
    let isCurrent = true;
    // No witness is asked about the private log: that none has cosigned it is no fault.
    const asked = log.kind === 'private' ? [] : pinned;
    const named = readWitnesses((log.witnesses ?? []).join('\n')).witnesses;
    checkCosigners(note, decodeVkey(log.vkey), asked, named).then((found) => {
      if (isCurrent) setCosigners(found);
    });
    return () => {
      isCurrent = false;
    };
  }, [note, pinned]);
  if (!cosigners) return <p class="hint">{TEXTS.checking}</p>;
  if (cosigners.length === 0) return <p>{LOG_TEXTS.noWitnesses}</p>;
  return (
    <ul class="plain">
      {cosigners.map(({ name, standing, time }) => (
        <li key={name + standing + time} class={standing}>
          <EvidenceText text={name} />
          {time !== undefined && (
            <>
              , <Moment time={time} />
            </>
          )}
          <p class={LOOKS[standing]}>{LOG_TEXTS.standings[standing]}</p>
        </li>
      ))}
    </ul>
  );
}

const LOOKS: Readonly<Record<Cosigner['standing'], string>> = {
  pinned: 'good',
  named: 'hint',
  refused: 'fault',
  unknown: 'hint',
  absent: 'fault',
};
