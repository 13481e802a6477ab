import type { BundledOperation, BundleFiles } from './bundle-index.js';
import { type BundleFileKind, placeOf } from './bundle-layout.js';

/** What a bundle holds, as far as its text depends on it. */
interface Contents {
  readonly kinds: ReadonlySet<BundleFileKind>;
  readonly operations: readonly BundledOperation[];
  readonly assetEvents: boolean;
  readonly assetFreeEvents: boolean;
  readonly hasPage: boolean;
  /** An event names the hash of a vCon. */
  readonly vconHash: boolean;
}

const KEYS = `KEYS
  Get the fingerprint of the operator's root key, and the name of the issuer, from the operator
  over a channel that you trust: a contract, a letter, a call. Without a fingerprint, get the
  log's keys and the issuer's keys that way. Keys that come with the evidence prove nothing.
    keys/key-manifest.cbor  the list of all keys, which the fingerprint checks
    keys/log-keys*.cbor     COSE key set (RFC 9052) of receipts and seals
    keys/did*.json          DID document of the issuer of the statements`;

const PAGE = `index.html
  A page that shows this evidence and checks it, by a double click and without a network. It
  contains the other files: the element "evidence" is the base64 of a zip. It is not evidence.
  Somebody who forges evidence can also forge the page: check the bundle with a verifier that
  you have from elsewhere. That is the page /verify of a service that you trust, or the command
  below, which also says whether this page is a known one.`;

const INDEX = `index.json
  The number of operations that this bundle was made with, and every file: its kind, its
  operation and its SHA-256. It shows that a file was lost or changed by accident. It is not
  signed: somebody who removes an operation can also remove it from the index. No file here
  proves that the log holds no other operation.`;

const ASSET_EVENT = `event.json of an asset (its identity starts with "assets/" or "publicassets/")
  The event as the service shows it. The log covers identity, event_attributes,
  asset_attributes, operation, behaviour, principal_declared, principal_accepted,
  tenant_identity, timestamp_declared, timestamp_accepted and timestamp_committed.
  It does not cover any other member: not asset_identity, confirmation_status, from,
  transaction_id, transaction_index and block_number. merklelog_entry says where in the log
  the leaf is.
  Leaf: SHA-256(0x00 || idtimestamp || V3)
    idtimestamp  the 8 bytes of merklelog_entry.commit.idtimestamp after its first byte
    V3           bencode of a dictionary of the eleven covered members. "publicassets/" in the
                 identity counts as "assets/". A string is <length in bytes>:<bytes>, a list
                 l…e, a dictionary d…e with its keys in the order of their UTF-8 bytes.
                 Null members are left out.`;

const ASSET_FREE_EVENT = `event.json without an asset (its identity starts with "events/")
  The event as the service shows it. The leaf covers attributes, trails and origin_tenant.
  The log file in log/ also covers the identity. The leaf covers only 56 bits of a hash of
  event_type, created_by and created_at, which is too little to rely on. It does not cover
  confirmation_status. merklelog_commit says where in the log the leaf is.
  Leaf: SHA-256(0x00 || extra || idtimestamp || <length in bytes of J>:J)
    extra        24 bytes: 0x01, the 16 bytes of the uuid in origin_tenant, and the first 7
                 bytes of SHA-256 over event_type, created_by and created_at, each written as
                 <length in bytes>:<text>. The log file has the same 24 bytes beside the leaf.
    idtimestamp  the 8 bytes of merklelog_commit.idtimestamp after its first byte
    J            {"attributes":…,"trails":…} as JSON without spaces, keys in the order of their
                 UTF-8 bytes; <, >, &, U+2028 and U+2029 are written as \\u escapes.`;

const VCON = `THE VCON
  The payload attribute of an event is the SHA-256, in hex, of the vCon's bytes at that moment:
    sha256sum call.vcon.json
  A copy that was re-indented or re-encoded has another hash. Hash the bytes that the conserver
  held (Python: json.dumps of the stored document with default separators).`;

const SIGNED_STATEMENT = `signed-statement.cose
  A tagged COSE_Sign1 (RFC 9052), signed by the issuer. The protected header names the issuer
  and the subject (CWT claims, label 15); the payload is what the issuer signed, for a vCon its
  hash. Any COSE library can check it with the issuer's key. With OpenSSL, for ES256: the
  signature (the last 64 bytes, r||s) is ECDSA P-256 with SHA-256 over the CBOR array
  ["Signature1", protected header, h'', payload].`;

const STATEMENT_RECEIPT = `statement-log-receipt.cose
  An RFC 9942 receipt with verifiable data structure 1 (RFC 9162 SHA-256). It covers every byte
  of signed-statement.cose.
  Leaf: SHA-256(0x00 || signed-statement.cose). Inner node: SHA-256(0x01 || left || right).
  The receipt is signed over the root. Any RFC 9942 verifier can check it with the log's keys.`;

const TRANSPARENT_STATEMENT = `transparent-statement.cose
  The signed statement with both receipts under label 394 of its unprotected header, and the
  event as JSON text under the label "event". It repeats what the other files say; a difference
  between them means that one of them was changed.`;

const TENANCY_RECEIPT = `tenancy-log-receipt.cose, tenancy-log-receipt-map.cose
  Receipts of the event's leaf in the tenancy's log, a Merkle mountain range (verifiable data
  structure 3). The first has the proof as the MMR profile draft writes it, the second as a CBOR
  map, which older clients read. Both have the same signature, over the peak.
  Inner node: SHA-256(position, 8 bytes || left || right); the position is the node's index + 1.`;

const LOG = `log/
  The log files (massifs) that hold the events' leaves, and the newest seal of each: a
  COSE_Sign1 over all peaks of the log at a size. The signed payload is the published payload
  with the peaks added under key 8. The files are laid out as replication tools do it. With the
  veracity tool:
    veracity --data-local log/tenant/<uuid>/0/massifs --tenant tenant/<uuid> verify-included event.json
  You can fetch the same files at any time from the operator's /verifiabledata. A log that was
  rewritten since then does not hold the same nodes.`;

const WITNESS = `witness/
  Witnesses do not belong to the operator. They follow the operator's public statement log and
  cosign a checkpoint only if it extends what they have seen.
    seal.sth            a seal over the peaks of the event's log, and an entry of the public log
    event-in-seal.json  the path from the event's leaf to its peak (hex, lowest first), and all
                        peaks of the sealed state
    seal.tlog-proof     C2SP tlog-proof: the index of SHA-256(0x00 || seal.sth) in the public
                        log, its RFC 9162 path, and the checkpoint with its cosignatures
  A cosignature is Ed25519 over "cosignature/v1\\ntime <seconds>\\n" and the checkpoint's text
  (C2SP tlog-cosignature). Get the witnesses' keys from the witnesses.`;

/** A bundle has these files only if the event has them. */
const SECTIONS: readonly (readonly [text: string, isThere: (contents: Contents) => boolean])[] = [
  [PAGE, ({ hasPage }) => hasPage],
  [KEYS, () => true],
  [INDEX, () => true],
  [ASSET_EVENT, ({ assetEvents }) => assetEvents],
  [ASSET_FREE_EVENT, ({ assetFreeEvents }) => assetFreeEvents],
  [VCON, ({ vconHash }) => vconHash],
  [SIGNED_STATEMENT, ({ kinds }) => kinds.has('signed-statement')],
  [STATEMENT_RECEIPT, ({ kinds }) => kinds.has('statement-log-receipt')],
  [TRANSPARENT_STATEMENT, ({ kinds }) => kinds.has('transparent-statement')],
  [TENANCY_RECEIPT, ({ kinds }) => kinds.has('tenancy-log-receipt')],
  [LOG, ({ kinds }) => kinds.has('massif')],
  [WITNESS, ({ kinds }) => kinds.has('witnessed-seal')],
];

function heading({ operations }: Contents): string {
  const [only, ...more] = operations;
  if (only && more.length === 0) return `EVIDENCE OF ONE OPERATION\n  ${only.identity}`;
  const list = operations.map(({ folder, identity }) => `  ${folder}/  ${identity}`);
  return `EVIDENCE OF ${operations.length} OPERATIONS\n${list.join('\n')}`;
}

function ownTool({ operations, kinds, vconHash }: Contents): string {
  const witness = kinds.has('witnessed-seal') ? ' --witness <vkey>' : '';
  const issuer = kinds.has('signed-statement') ? ' --issuer-keys <file> --issuer <name>' : '';
  const vcon = vconHash ? ' call.vcon.json' : '';
  return `USING OUR OWN TOOL, OFFLINE
  With the fingerprint of the operator's root key and the name of the issuer, which you get from
  somewhere else than this bundle:
    vcon-archivist verify --root <fingerprint> --issuer <name>${witness}${vcon} <this bundle>
  Or with key files:
    vcon-archivist verify --log-keys <file>${issuer}${witness}${vcon} <this bundle>
  It takes the zip file and the unpacked folder, and checks ${operations.length > 1 ? 'all operations' : 'every file'}.
  Exit status: 0 verified, 1 refused, 2 not readable, 3 something could not be proven.`;
}

/** Whether an event names the hash of a vCon. */
function namesHash(eventJson: Uint8Array | undefined): boolean {
  const event = JSON.parse(new TextDecoder().decode(eventJson)) as Record<string, Record<string, unknown> | undefined>;
  return typeof (event['event_attributes'] ?? event['attributes'])?.['payload'] === 'string';
}

/**
 * Returns the README of a bundle: what each of its files is and covers, the leaf formulas that these files need, and
 * how to check them with tools of other projects.
 * @throws {SyntaxError} if an operation has no event.json, or one that is not JSON
 */
export function bundleText(files: BundleFiles, operations: readonly BundledOperation[], hasPage: boolean): string {
  const contents: Contents = {
    kinds: new Set(Object.keys(files).flatMap((path) => placeOf(path)?.kind ?? [])),
    operations,
    hasPage,
    assetEvents: operations.some(({ identity }) => !identity.startsWith('events/')),
    assetFreeEvents: operations.some(({ identity }) => identity.startsWith('events/')),
    vconHash: operations.some(({ folder }) => namesHash(files[folder === '' ? 'event.json' : `${folder}/event.json`])),
  };
  const sections = SECTIONS.flatMap(([text, isThere]) => (isThere(contents) ? [text] : []));
  return `${[heading(contents), ...sections, ownTool(contents)].join('\n\n')}\n`;
}
