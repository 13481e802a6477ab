import { useEffect, useMemo, useState } from 'preact/hooks';
import { INDEX_PATH } from '../core/bundle/bundle-index.js';
import { equalBytes } from '../core/bytes.js';
import type { EvidenceFile } from '../core/evidence/evidence-file.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { checkEvidence } from './check-evidence.js';
import { FileArea } from './file-list.js';
import { type GivenFile, readGiven, withFiles } from './given-files.js';
import { encodeManifest } from './kept-trust.js';
import { chosenFiles } from './picked-files.js';
import { StatedCheck } from './stated-check.js';
import { useAnswerFocus } from './use-answer-focus.js';
import { useCheck } from './use-check.js';
import { useDrop } from './use-drop.js';
import { useStatedTrust } from './use-stated-trust.js';

interface VerifierProps {
  /** Evidence that the page brings; it is checked with the files that the reader adds. */
  readonly brought?: EvidenceFile | undefined;
}

/** Files, whom the reader trusts, and the answer. */
export function Verifier({ brought }: VerifierProps) {
  const [added, setAdded] = useState<readonly EvidenceFile[]>([]);
  /** The reader's own copy of the bundle that the page brings, which has all of its files. */
  const [whole, setWhole] = useState<EvidenceFile>();
  const isBrought = brought !== undefined && !added.some(({ path }) => path === whole?.path);
  const files = useMemo(() => (isBrought ? [brought, ...added] : added), [added, isBrought]);
  const [fault, setFault] = useState('');
  const trust = useStatedTrust();
  const isReady = files.length > 0 && trust.isReadable;
  const check = (tell: (done: string) => void) => checkEvidence(files, trust.reader, tell);
  const checked = useCheck(isReady ? check : undefined, [files, trust.own, isReady]);
  const { result } = checked;
  const { heading, ask } = useAnswerFocus(result);
  const add = async (given: readonly GivenFile[] | Promise<readonly GivenFile[]>) => {
    ask();
    try {
      const read = await readGiven(await given);
      setFault('');
      if (brought) for (const each of read) if (await isSameBundle(each, brought)) setWhole(each);
      setAdded((there) => withFiles(there, read));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      setFault(error.message);
    }
  };
  const isOver = useDrop(add);
  useEffect(() => {
    // What was found under a root that the reader trusts serves the next check, of files without a key list.
    if (result && 'root' in result && result.root && result.origin === 'pinned_root')
      trust.setManifest(encodeManifest(result.root.source));
  }, [result]);
  return (
    <>
      <FileArea
        files={added}
        isOver={isOver}
        onFiles={(chosen) => add(chosenFiles(chosen))}
        onRemove={(path) => setAdded((there) => there.filter((each) => each.path !== path))}
        onClear={() => setAdded([])}
      />
      <StatedCheck isStarted trust={trust} check={checked} heading={heading} fault={fault} />
    </>
  );
}

/** Whether both were made as one bundle: the page of a bundle may contain only a part of it. */
async function isSameBundle(given: EvidenceFile, brought: EvidenceFile): Promise<boolean> {
  const [left, right] = [await given.folder?.file(INDEX_PATH), await brought.folder?.file(INDEX_PATH)];
  return left !== undefined && right !== undefined && equalBytes(left, right);
}
