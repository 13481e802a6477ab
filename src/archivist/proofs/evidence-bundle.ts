import type { BundleFiles } from '../../core/bundle/bundle-index.js';
import { bundledLogPath, MANIFEST_PATH } from '../../core/bundle/bundle-layout.js';
import { completeBundle } from '../../core/bundle/complete-bundle.js';
import { type PageTemplate, zipBundle } from '../../core/bundle/zip-bundle.js';
import { toHex, utf8 } from '../../core/bytes.js';
import { DataStructure } from '../../core/cose/labels.js';
import { massifPath, sealPath } from '../../core/massif/blob-paths.js';
import { readTransparentStatement, receiptsOfStructure } from '../../core/statement/transparent-statement.js';
import type { WitnessedSeal } from '../../core/verify/verify-witnessed.js';
import { nativeSha256 } from '../../platform/native-sha256.js';

/** The published keys. Only the manifest can be trusted from a bundle: the root's fingerprint checks it. */
export interface EvidenceKeys {
  /** COSE key set of receipts and seals. */
  logKeys(): Uint8Array;
  /** DID document of the issuer of a tenancy's statements. */
  issuerDocument(tenantId: string): object;
  /** The newest key manifest, after those that rotated the root key. */
  keyManifests(): Promise<Uint8Array>;
}

/** Everything that proves one event. */
export interface Evidence {
  readonly event: Readonly<Record<string, unknown>>;
  /** The tenancy whose log holds the event. */
  readonly logTenancy: string;
  /** The tenancy that recorded the event and issued the statement. */
  readonly issuingTenancy: string;
  readonly massif: number;
  /** Undefined if the bundle is to be without it. */
  readonly massifFile: Uint8Array | undefined;
  readonly sealFile: Uint8Array;
  readonly receipt: { readonly map: Uint8Array; readonly draft: Uint8Array };
  readonly signedStatement?: Uint8Array | undefined;
  readonly transparentStatement?: Uint8Array | undefined;
  /** Present if witnesses have cosigned the log that holds the event. */
  readonly witnessed?: WitnessedSeal | undefined;
}

/**
 * Returns one zip with everything that proves an event, as docs/formats/bundle.md describes it.
 * @param page what shows and checks it in a browser; undefined if the bundle is to be without one
 */
export async function evidenceBundle(
  evidence: Evidence,
  keys: EvidenceKeys,
  page: PageTemplate | undefined,
): Promise<Uint8Array> {
  const { event, logTenancy, issuingTenancy, massif, massifFile, sealFile, receipt } = evidence;
  const files: BundleFiles = {
    'event.json': utf8(`${JSON.stringify(event, null, 2)}\n`),
    'tenancy-log-receipt.cose': receipt.draft,
    'tenancy-log-receipt-map.cose': receipt.map,
    ...statements(evidence),
    ...witnessFiles(evidence),
    ...(massifFile ? { [bundledLogPath(massifPath(logTenancy, massif))]: massifFile } : {}),
    [bundledLogPath(sealPath(logTenancy, massif))]: sealFile,
    'keys/log-keys.cbor': keys.logKeys(),
    [MANIFEST_PATH]: await keys.keyManifests(),
    'keys/did.json': utf8(`${JSON.stringify(keys.issuerDocument(issuingTenancy), null, 2)}\n`),
  };
  const operations = [{ number: 1, folder: '', identity: String(event['identity']) }];
  // Most of a massif is zeros or hashes: a higher compression level makes it no smaller.
  return zipBundle(completeBundle(files, operations, page !== undefined, nativeSha256), page, 1);
}

function statements({ signedStatement, transparentStatement }: Evidence): BundleFiles {
  if (!signedStatement || !transparentStatement) return {};
  const [receipt] = receiptsOfStructure(readTransparentStatement(transparentStatement), DataStructure.rfc9162Sha256);
  return {
    'signed-statement.cose': signedStatement,
    'transparent-statement.cose': transparentStatement,
    ...(receipt ? { 'statement-log-receipt.cose': receipt.bytes } : {}),
  };
}

function witnessFiles({ witnessed }: Evidence): BundleFiles {
  if (!witnessed) return {};
  const { seal, path, peaks, proof } = witnessed;
  const inclusion = { path: path.map(toHex), peaks: peaks.map(toHex) };
  return {
    'witness/seal.sth': seal,
    'witness/seal.tlog-proof': utf8(proof),
    'witness/event-in-seal.json': utf8(`${JSON.stringify(inclusion, null, 2)}\n`),
  };
}
