import { toBase64 } from '../../core/bytes.js';
import type { VerifySignature } from '../../core/cose/signature.js';
import { verifyCosignature } from '../../core/tlog/cosignature.js';
import {
  decodeNote,
  type NoteKey,
  readSignatureLine,
  signatureLine,
  signaturesBy,
} from '../../core/tlog/signed-note.js';
import { fetchDirect } from '../../platform/http/fetch-direct.js';

/** A party that cosigns only checkpoints which extend what it has already seen (C2SP tlog-witness). */
export interface Witness {
  readonly key: NoteKey;
  /** Prefix of its endpoints, without a trailing slash. */
  readonly url: string;
}

/** A witness did not cosign. The message has the reason, and quotes at most a status. */
export class WitnessRefused extends Error {
  override readonly name = 'WitnessRefused';
}

/** The checkpoint that a witness is asked to cosign. */
export interface CheckpointSubmission {
  /** The log's own signed note. */
  readonly note: string;
  readonly size: bigint;
  /** The proof that this checkpoint extends one of `oldSize` entries. */
  proofFrom(oldSize: bigint): Promise<readonly Uint8Array[]>;
}

interface WitnessCall {
  readonly witness: Witness;
  /** The size that it last cosigned, as far as we know. */
  readonly oldSize: bigint;
  readonly verifySignature: VerifySignature;
  /** Unix milliseconds. */
  now(): number;
}

const TIME_LIMIT_MS = 5_000;
const MOST_BYTES = 64 * 1024;
/** What a witness says with its status (C2SP tlog-witness), and what to do. */
const MEANING: Readonly<Record<number, string>> = {
  403: ': it knows no key that signed this checkpoint; tell it the newest verifier key',
  404: ': it does not know this log; tell it the verifier key',
  422: ': this log does not extend what it has cosigned',
};
/** A cosignature must be current: one from another time may be a replay. */
const MOST_SKEW_SECONDS = 600n;

/**
 * Submits a checkpoint to one witness and resolves with its verified signature line. If the witness knows another size
 * than expected, retries once from that size.
 * @throws {WitnessRefused} if it does not answer, refuses, knows a larger log than ours, or signs something else
 */
export async function askWitness(call: WitnessCall, submission: CheckpointSubmission): Promise<string> {
  const first = await submit(call, submission, call.oldSize);
  const answer =
    first.status === 409 ? await submit(call, submission, sizeItKnows(first.body, submission.size)) : first;
  if (answer.status !== 200) throw new WitnessRefused(`it answered ${answer.status}${MEANING[answer.status] ?? ''}`);
  return checkedLine(call, submission, answer.body);
}

function sizeItKnows(body: string, ours: bigint): bigint {
  const text = body.trim();
  if (!/^(0|[1-9]\d{0,18})$/.test(text)) throw new WitnessRefused('it answered 409 without the size that it knows');
  if (BigInt(text) > ours) throw new WitnessRefused(`it has cosigned ${text} entries, and we have published ${ours}`);
  return BigInt(text);
}

async function submit({ witness }: WitnessCall, { note, size, proofFrom }: CheckpointSubmission, oldSize: bigint) {
  const known = oldSize <= size ? oldSize : 0n;
  const proof = await proofFrom(known);
  const body = `old ${known}\n${proof.map((hash) => `${toBase64(hash)}\n`).join('')}\n${note}`;
  try {
    const response = await fetchDirect(`${witness.url}/add-checkpoint`, { method: 'POST', body }, TIME_LIMIT_MS);
    return { status: response.status, body: await limitedText(response) };
  } catch (error) {
    if (error instanceof WitnessRefused) throw error;
    throw new WitnessRefused('it does not answer');
  }
}

async function limitedText(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MOST_BYTES) throw new WitnessRefused('its answer is too long');
  }
  return text;
}

async function checkedLine(
  { witness, verifySignature, now }: WitnessCall,
  { note }: CheckpointSubmission,
  lines: string,
): Promise<string> {
  const { text } = decodeNote(note);
  try {
    const signatures = lines.split('\n').filter(Boolean).map(readSignatureLine);
    const time = await verifyCosignature({ text, signatures }, witness.key, verifySignature);
    if (time === undefined) throw new WitnessRefused('it signed with another key');
    const skew = time - BigInt(Math.floor(now() / 1000));
    if (skew > MOST_SKEW_SECONDS || -skew > MOST_SKEW_SECONDS) throw new WitnessRefused('it signed at another time');
    // A witness may also answer with lines of its other keys, under the same name.
    const [cosignature] = signaturesBy({ text, signatures }, witness.key);
    return signatureLine(witness.key, cosignature!.signature);
  } catch (error) {
    if (error instanceof WitnessRefused) throw error;
    throw new WitnessRefused('it signed something else');
  }
}
