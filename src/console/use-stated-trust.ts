import { useEffect, useMemo, useState } from 'preact/hooks';
import type { PublicJwk } from '../core/cose/public-key.js';
import type { ReaderTrust } from './check-evidence.js';
import { keep, keptManifest, NOTHING_KEPT, readKept } from './kept-trust.js';
import { readFingerprint, readWitnesses, type StatedTrust } from './stated-trust.js';
import { TEXTS } from './texts.js';

/**
 * What the reader trusts: typed, and kept in the browser if the reader wants that. A check takes `reader`, and is an answer
 * to `own`: a manifest that a check found serves the next check, and starts none.
 */
export function useStatedTrust() {
  const [kept] = useState(readKept);
  const [stated, setStated] = useState<StatedTrust>({
    fingerprint: kept.fingerprint,
    issuer: kept.issuer,
    witnesses: kept.witnesses,
    isKept: true,
  });
  const [given, setGiven] = useState<{ readonly keys: readonly PublicJwk[]; readonly fault?: string }>({ keys: [] });
  const [manifest, setManifest] = useState(kept.manifest);
  const root = useMemo(() => readFingerprint(stated.fingerprint), [stated.fingerprint]);
  const witnesses = useMemo(() => readWitnesses(stated.witnesses), [stated.witnesses]);
  const own = useMemo(
    (): ReaderTrust => ({
      root: root.root,
      keys: given.keys,
      issuer: stated.issuer.trim() || undefined,
      witnesses: witnesses.witnesses,
    }),
    [root, given, stated.issuer, witnesses],
  );
  const reader = useMemo(
    (): ReaderTrust => ({ ...own, keptManifest: keptManifest({ ...NOTHING_KEPT, manifest }, TEXTS.keptManifest) }),
    [own, manifest],
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
  /** Whether a check can run: what is typed can be read. */
  const isReadable = !root.fault && !witnesses.fault;
  return { stated, faults, isReadable, own, reader, change, setManifest, setKeys: setGiven };
}
