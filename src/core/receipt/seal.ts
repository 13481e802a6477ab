import { type CborMap, type CborValue, decodeCbor, encodeCbor } from '../cose/cbor.js';
import { Header } from '../cose/labels.js';
import { createSign1, decodeSign1, encodeSign1, type Sign1 } from '../cose/sign1.js';
import type { Signer } from '../cose/signature.js';
import { VerificationError } from '../errors.js';
import { LAST_TIME_MS } from '../last-time.js';
import { baggedRoot } from '../mmr/bagged-root.js';
import { type LogName, type ReadLogClaims, readLogClaims, sealerClaims } from './log-claims.js';

/** The state of an MMR log that a seal signs, without the peaks. */
export interface MmrState {
  /** Node count. */
  readonly size: bigint;
  /** Unix milliseconds. */
  readonly sealedAtMs: number;
  /** Of the last leaf, without the epoch. */
  readonly idtimestamp: bigint;
  readonly epoch: number;
  /** 0 signs one bagged root, 1 and 2 sign the peaks; 2 is what we write. */
  readonly version: number;
}

/** A seal that was read. Only its form is checked. */
export interface Seal extends ReadLogClaims {
  readonly sign1: Sign1;
  readonly state: MmrState;
  /** The payload also has the peaks, or their bagged root: replication tools write back what they verified. */
  readonly carriesPeaks: boolean;
  /** One pre-signed receipt a peak, left to right. */
  readonly peakReceipts: readonly Uint8Array[];
}

export const SEAL_VERSION = 2;

const StateKey = { size: 1, root: 2, sealedAtMs: 3, idtimestamp: 4, epoch: 6, version: 7, peaks: 8 } as const;
const PUBLISHED_KEYS: readonly CborValue[] = [
  StateKey.size,
  StateKey.sealedAtMs,
  StateKey.idtimestamp,
  StateKey.epoch,
  StateKey.version,
];

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not a seal: ${reason}`);
}

function stateMap(state: MmrState): CborMap {
  return new Map<number, CborValue>([
    [StateKey.size, state.size],
    [StateKey.sealedAtMs, state.sealedAtMs],
    [StateKey.idtimestamp, state.idtimestamp],
    [StateKey.epoch, state.epoch],
    ...(state.version === 0 ? [] : [[StateKey.version, state.version] as const]),
  ]);
}

/** Returns the payload of a published seal: the state without peaks, which readers take from the log's own nodes. */
export function encodePublishedState(state: MmrState): Uint8Array {
  return encodeCbor(stateMap(state));
}

/**
 * Returns the payload that is signed: the state with its peaks, left to right, or in version 0 with their bagged root.
 */
export function encodeSignedState(state: MmrState, peaks: readonly Uint8Array[]): Uint8Array {
  const map = stateMap(state);
  if (state.version === 0) map.set(StateKey.root, baggedRoot(peaks));
  else map.set(StateKey.peaks, [...peaks]);
  return encodeCbor(map);
}

function unsigned(map: CborMap, key: number): bigint {
  const value = map.get(key);
  if ((typeof value !== 'number' && typeof value !== 'bigint') || value < 0)
    throw malformed(`its state has no integer under ${key}`);
  return BigInt(value);
}

/** A number that is the same when it is signed again. */
function smallUnsigned(map: CborMap, key: number): number {
  const value = Number(unsigned(map, key));
  if (!Number.isSafeInteger(value)) throw malformed(`its state has an impossible number under ${key}`);
  return value;
}

/** Where a replica's copy of a seal has what was signed beside the published state. */
const carriedKey = (version: bigint): number => (version === 0n ? StateKey.root : StateKey.peaks);

/** Reads the payload of a seal. @throws {VerificationError} `malformed`, `unsupported` */
export function decodeSealPayload(payload: Uint8Array): { readonly state: MmrState; readonly carriesPeaks: boolean } {
  const map = decodeCbor(payload);
  if (!(map instanceof Map)) throw malformed('its state is not a map');
  const version = map.has(StateKey.version) ? unsigned(map, StateKey.version) : 0n;
  if (version > BigInt(SEAL_VERSION)) throw new VerificationError('unsupported', `a seal has version ${version}`);
  const carried = carriedKey(version);
  // A key more would not be covered when the signed form is built again.
  for (const key of map.keys())
    if (!PUBLISHED_KEYS.includes(key) && key !== carried) throw malformed('its state has an unknown key');
  const sealedAtMs = smallUnsigned(map, StateKey.sealedAtMs);
  if (sealedAtMs > LAST_TIME_MS) throw malformed('its state has a time after the year 9999');
  const state = {
    size: unsigned(map, StateKey.size),
    sealedAtMs,
    idtimestamp: unsigned(map, StateKey.idtimestamp),
    epoch: smallUnsigned(map, StateKey.epoch),
    version: Number(version),
  };
  return { state, carriesPeaks: map.has(carried) };
}

/**
 * Signs a state and its peaks. `peakReceipts` are the stored pre-signed receipts of the same peaks, in the same order.
 * The published bytes name the log and carry the state without peaks.
 * @throws {TypeError} when receipts and peaks differ in number
 */
export async function createSeal(
  state: MmrState,
  peaks: readonly Uint8Array[],
  signer: Signer,
  name: LogName,
  peakReceipts: readonly Uint8Array[],
): Promise<Uint8Array> {
  if (peaks.length !== peakReceipts.length) throw new TypeError('a seal takes one receipt a peak');
  const claims = sealerClaims(name, signer);
  const header = new Map<number, CborValue>([
    [Header.alg, signer.alg],
    [Header.draftClaims, claims],
    [Header.claims, claims],
  ]);
  const signed = await createSign1(header, encodeSignedState(state, peaks), signer);
  return encodeSign1({
    ...signed,
    unprotectedHeader: new Map([[Header.peakReceipts, [...peakReceipts]]]),
    payload: encodePublishedState(state),
  });
}

/** Reads a published seal. Only its form is checked. @throws {VerificationError} `malformed`, `unsupported` */
export function readSeal(bytes: Uint8Array): Seal {
  const sign1 = decodeSign1(bytes);
  if (!sign1.payload) throw malformed('its state is detached');
  const receipts = sign1.unprotectedHeader.get(Header.peakReceipts) ?? [];
  if (!Array.isArray(receipts)) throw malformed('its peak receipts are not a list');
  const peakReceipts = receipts.map((receipt) => {
    if (!(receipt instanceof Uint8Array)) throw malformed('a peak receipt is not a byte string');
    return receipt;
  });
  return {
    sign1,
    ...decodeSealPayload(sign1.payload),
    peakReceipts,
    ...readLogClaims(sign1.protectedHeader),
  };
}
