import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PublicJwk } from '../core/cose/public-key.js';
import type { EvidenceFile } from '../core/evidence/evidence-file.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { type CheckResult, checkEvidence, type ReaderTrust } from './check-evidence.js';
import { FileArea } from './file-list.js';
import { Frame } from './frame.js';
import { chosenFiles, type GivenFile, readGiven, withFiles } from './given-files.js';
import { encodeManifest, keep, keptManifest, NOTHING_KEPT, readKept } from './kept-trust.js';
import { ResultView } from './result-view.js';
import { readFingerprint, readKeyFiles, readWitnesses, type StatedTrust } from './stated-trust.js';
import { TEXTS } from './texts.js';
import { TrustForm } from './trust-form.js';
import { useDrop } from './use-drop.js';

const KEPT = readKept();

function useStatedTrust() {
  const [stated, setStated] = useState<StatedTrust>({
    fingerprint: KEPT.fingerprint,
    issuer: KEPT.issuer,
    witnesses: KEPT.witnesses,
    isKept: true,
  });
  const [given, setGiven] = useState<{ readonly keys: readonly PublicJwk[]; readonly fault?: string }>({ keys: [] });
  const [manifest, setManifest] = useState(KEPT.manifest);
  const root = useMemo(() => readFingerprint(stated.fingerprint), [stated.fingerprint]);
  const witnesses = useMemo(() => readWitnesses(stated.witnesses), [stated.witnesses]);
  const reader = useMemo(
    (): ReaderTrust => ({
      root: root.root,
      keys: given.keys,
      issuer: stated.issuer.trim() || undefined,
      witnesses: witnesses.witnesses,
      keptManifest: keptManifest({ ...NOTHING_KEPT, manifest }, TEXTS.keptManifest),
    }),
    [root, given, stated.issuer, witnesses, manifest],
  );
  useEffect(() => {
    const { fingerprint, issuer, witnesses: keys } = stated;
    keep(stated.isKept && !root.fault ? { fingerprint, issuer, witnesses: keys, manifest } : undefined);
  }, [stated, manifest, root]);
  const change = (part: Partial<StatedTrust>) => {
    if (part.fingerprint !== undefined) setManifest('');
    setStated((before) => ({ ...before, ...part }));
  };
  const faults = { fingerprint: root.fault, witnesses: witnesses.fault, keys: given.fault };
  return { stated, faults, reader, change, setManifest, setKeys: setGiven };
}

/** Checks again whenever the files or the trust change; only the newest answer is shown. */
function useCheck(files: readonly EvidenceFile[], reader: ReaderTrust, isReady: boolean) {
  const [result, setResult] = useState<CheckResult | undefined>();
  const [progress, setProgress] = useState<string | undefined>();
  useEffect(() => {
    if (files.length === 0 || !isReady) {
      setResult(undefined);
      setProgress(undefined);
      return undefined;
    }
    let isCurrent = true;
    setProgress('');
    const tell = (done: string) => isCurrent && setProgress(done);
    checkEvidence(files, reader, tell)
      .catch((error: unknown): CheckResult => {
        console.error(error);
        return { problem: 'not_evidence', detail: TEXTS.failed, files: [] };
      })
      .then((found) => {
        if (!isCurrent) return;
        setResult(found);
        setProgress(undefined);
      });
    return () => {
      isCurrent = false;
    };
  }, [files, reader, isReady]);
  return { result, progress };
}

function VerifyPage() {
  const [files, setFiles] = useState<readonly EvidenceFile[]>([]);
  const [fault, setFault] = useState('');
  const trust = useStatedTrust();
  const { fingerprint, witnesses } = trust.faults;
  const { result, progress } = useCheck(files, trust.reader, fingerprint === undefined && witnesses === undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  const isNew = useRef(false);
  const add = async (given: readonly GivenFile[] | Promise<readonly GivenFile[]>) => {
    try {
      const read = await readGiven(await given);
      isNew.current = true;
      setFault('');
      setFiles((there) => withFiles(there, read));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      setFault(error.message);
    }
  };
  const isOver = useDrop(add);
  useEffect(() => {
    // Only new files move the reader to their answer; while a fingerprint is typed the focus stays there.
    if (result && isNew.current) heading.current?.focus();
    if (result) isNew.current = false;
    // What was found under a root that the reader trusts serves the next check, of files without a key list.
    if (result && 'root' in result && result.root && result.origin === 'pinned_root')
      trust.setManifest(encodeManifest(result.root.source));
  }, [result]);
  if (!globalThis.crypto?.subtle) return <p class="banner refused">{TEXTS.noCrypto}</p>;
  return (
    <>
      <FileArea
        files={files}
        isOver={isOver}
        onFiles={(chosen) => add(chosenFiles(chosen))}
        onRemove={(path) => setFiles((there) => there.filter((each) => each.path !== path))}
        onClear={() => setFiles([])}
      />
      <TrustForm
        stated={trust.stated}
        faults={trust.faults}
        isRootGood={trust.reader.root !== undefined}
        keyCount={trust.reader.keys.length}
        onChange={trust.change}
        onKeyFiles={(chosen) => readKeyFiles(chosen).then(trust.setKeys)}
      />
      <section class="result" aria-label={TEXTS.resultTitle} aria-busy={progress !== undefined}>
        <p role="status" class="hint">
          {fault || (progress === undefined ? '' : `${TEXTS.checking} ${progress}`)}
        </p>
        {result && <ResultView result={result} heading={heading} />}
      </section>
    </>
  );
}

render(
  <Frame>
    <VerifyPage />
  </Frame>,
  document.getElementById('page')!,
);
