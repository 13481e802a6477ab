import { type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { equalBytes, fromBase64 } from '../../src/core/bytes.js';
import { rfc9162VerifyConsistency } from '../../src/core/rfc9162/rfc9162-consistency.js';
import { decodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { cosignatureMessage, encodeCosignature } from '../../src/core/tlog/cosignature.js';
import {
  decodeVkey,
  encodeVkey,
  type NoteKey,
  NoteKeyType,
  signatureLine,
  verifyNote,
} from '../../src/core/tlog/signed-note.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';

/** What a witness of the tests does wrong: `lies` cosigns another root. */
export type Misbehaviour = 'none' | 'lies' | 'refuses' | 'wrong key' | 'yesterday' | 'silent';

/** A witness (C2SP tlog-witness) over HTTP, which keeps its word unless told otherwise. */
export interface TestWitness {
  readonly key: NoteKey;
  /** As `WITNESSES` names it. */
  readonly address: string;
  /** What it has cosigned last of the first log that it knows. */
  state: { size: bigint; root: Uint8Array };
  /** The same of other logs, by their origins. */
  readonly others: Map<string, TestWitness['state']>;
  misbehaviour: Misbehaviour;
  /** It answers only when this is resolved. */
  slowness: Promise<void> | undefined;
  readonly submissions: string[];
  /** The log's verifier keys that it knows. */
  readonly knownLogs: string[];
  close(): Promise<void>;
}

export async function startTestWitness(name: string): Promise<TestWitness> {
  const keys = newKeyPair({ type: 'ed25519' });
  const key: NoteKey = {
    name,
    type: NoteKeyType.cosignature,
    publicKey: fromBase64(keys.publicKey.export({ format: 'jwk' }).x!),
  };
  const witness: Omit<TestWitness, 'address' | 'close'> = {
    key,
    state: { size: 0n, root: new Uint8Array(32) },
    others: new Map(),
    misbehaviour: 'none',
    slowness: undefined,
    submissions: [],
    knownLogs: [],
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      if (running.misbehaviour === 'silent') return;
      const { status, body } = await answer(running, keys.privateKey, Buffer.concat(chunks).toString());
      response.writeHead(request.url === '/add-checkpoint' ? status : 404, { 'content-type': 'text/plain' }).end(body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const running: TestWitness = Object.assign(witness, {
    address: `${encodeVkey(key)} http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  });
  return running;
}

async function answer(witness: TestWitness, privateKey: KeyObject, body: string) {
  witness.submissions.push(body);
  await witness.slowness;
  const end = body.indexOf('\n\n');
  const [first, ...proof] = body.slice(0, end).split('\n');
  const note = body.slice(end + 2);
  const old = BigInt(/^old (\d+)$/.exec(first!)![1]!);
  if (witness.misbehaviour === 'refuses') return { status: 403, body: 'no' };
  const text = await verifyNote(note, witness.knownLogs.map(decodeVkey)).catch(() => undefined);
  if (text === undefined) return { status: 403, body: 'unknown log' };
  const { origin, size, root } = decodeCheckpoint(text);
  const isFirst = decodeVkey(witness.knownLogs[0]!).name === origin;
  const state = isFirst ? witness.state : (witness.others.get(origin) ?? { size: 0n, root: new Uint8Array(32) });
  if (old > size) return { status: 400, body: 'old size' };
  if (old !== state.size) return { status: 409, body: `${state.size}\n` };
  if (!isExtension(state, { size, root }, proof)) return { status: 422, body: 'bad proof' };
  if (isFirst) witness.state = { size, root };
  else witness.others.set(origin, { size, root });
  const time = BigInt(Math.floor(Date.now() / 1000)) - (witness.misbehaviour === 'yesterday' ? 86_400n : 0n);
  const signed = witness.misbehaviour === 'lies' ? text.replace(/\n\d+\n/, `\n${size + 1n}\n`) : text;
  const key = witness.misbehaviour === 'wrong key' ? newKeyPair({ type: 'ed25519' }).privateKey : privateKey;
  const signature = new Uint8Array(sign(null, cosignatureMessage(time, signed), key));
  return { status: 200, body: signatureLine(witness.key, encodeCosignature(time, signature)) };
}

function isExtension(older: TestWitness['state'], newer: TestWitness['state'], proof: readonly string[]): boolean {
  if (older.size === 0n) return proof.filter(Boolean).length === 0;
  if (older.size === newer.size) return equalBytes(older.root, newer.root);
  try {
    rfc9162VerifyConsistency(older.size, older.root, newer.size, newer.root, proof.filter(Boolean).map(fromBase64));
    return true;
  } catch {
    return false;
  }
}
