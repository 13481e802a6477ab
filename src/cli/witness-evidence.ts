import { fromHex } from '../core/bytes.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { readTransparentStatement } from '../core/statement/transparent-statement.js';
import type { NoteKey } from '../core/tlog/signed-note.js';
import { eventFacts } from '../core/verify/event-facts.js';
import type { ExpectedLog } from '../core/verify/trust.js';
import { type Findings, findingsOf, missing, notCovered } from '../core/verify/verdict.js';
import { verifyWitnessed, type WitnessedSeal } from '../core/verify/verify-witnessed.js';
import type { WitnessFiles } from './evidence-bundle.js';

const HASH = /^[0-9a-f]{64}$/;
/** A path and the peaks of the largest log that there can be. */
const MOST_HASHES = 64;

/** Keys that the caller trusts. */
export interface WitnessTrust {
  logKeys(): Promise<readonly PublicJwk[]>;
  readonly tenancyLog: ExpectedLog;
  /** Of the checkpoints that witnesses cosign. */
  readonly witnessedLog: string | undefined;
  readonly witnesses: readonly NoteKey[];
  readonly quorum: number;
}

/**
 * Checks that witnesses have seen the state of the log that holds a transparent statement's event. Without their keys that
 * stays unproven; with keys, a bundle that has nothing of witnesses is refused.
 */
export async function witnessFindings(
  statement: Uint8Array,
  files: WitnessFiles | undefined,
  trust: WitnessTrust,
): Promise<Partial<Findings>> {
  const { witnesses, quorum, tenancyLog, witnessedLog: origin } = trust;
  if (witnesses.length === 0) {
    if (!files) return {};
    return {
      ...missing('witness_keys', 'witnesses vouch for it: give their keys (--witness) to check that'),
      ...notCovered('witness', 'unproven', 'no key of a witness was given'),
    };
  }
  const logKeys = await trust.logKeys();
  return findingsOf('witness', async () => {
    if (!files) throw new VerificationError('witness_quorum_missing', 'the bundle has no checkpoint of witnesses');
    const { event } = readTransparentStatement(statement);
    if (!event) throw new VerificationError('insufficient_data', 'the statement carries no event');
    const witnessTrust = { logKeys, log: tenancyLog, witnesses, quorum, origin };
    const { proofs } = await verifyWitnessed(event, witnessedSeal(files), witnessTrust);
    const { committed, tenancy } = eventFacts(event);
    const facts = { ...(tenancy === undefined ? {} : { tenancy }), ...(committed === undefined ? {} : { committed }) };
    return { claims: [{ kind: 'witnessed', piece: 'witness', facts, by: proofs }] };
  });
}

function witnessedSeal({ seal, proof, inclusion }: WitnessFiles): WitnessedSeal {
  const text = new TextDecoder();
  let read: { path?: unknown; peaks?: unknown } | null;
  try {
    read = JSON.parse(text.decode(inclusion)) as { path?: unknown; peaks?: unknown } | null;
  } catch {
    throw new VerificationError('malformed', 'event-in-seal.json is not JSON');
  }
  return { seal, proof: text.decode(proof), path: hashes(read?.path), peaks: hashes(read?.peaks) };
}

function hashes(value: unknown): Uint8Array[] {
  const good = Array.isArray(value) && value.length <= MOST_HASHES;
  if (!good || !value.every((each): each is string => typeof each === 'string' && HASH.test(each)))
    throw new VerificationError('malformed', 'event-in-seal.json has no lists of hashes');
  return value.map(fromHex);
}
