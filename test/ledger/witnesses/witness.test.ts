import { sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { fromBase64 } from '../../../src/core/bytes.js';
import { encodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { cosignatureMessage, encodeCosignature, verifyCosignature } from '../../../src/core/tlog/cosignature.js';
import {
  decodeNote,
  encodeNote,
  type NoteKey,
  NoteKeyType,
  signatureLine,
} from '../../../src/core/tlog/signed-note.js';
import { askWitness, WitnessRefused } from '../../../src/ledger/witnesses/witness.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const NOW = 1_800_000_000;
const SIZE = 7n;
const witnessKeys = newKeyPair({ type: 'ed25519' });
const key = noteKey('w.example', NoteKeyType.cosignature);
const text = encodeCheckpoint({ origin: 'log/a', size: SIZE, root: new Uint8Array(32) });
const note = encodeNote(text, [signatureLine(noteKey('log/a', NoteKeyType.ed25519), new Uint8Array(64))]);
let server: Server | undefined;

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

function noteKey(name: string, type: NoteKeyType): NoteKey {
  return { name, type, publicKey: fromBase64(witnessKeys.publicKey.export({ format: 'jwk' }).x!) };
}

function cosignature(of = text, time = NOW): string {
  const signature = new Uint8Array(sign(null, cosignatureMessage(BigInt(time), of), witnessKeys.privateKey));
  return signatureLine(key, encodeCosignature(BigInt(time), signature));
}

/** Asks a witness that gives these answers, one after the other, the last one for ever. */
async function ask(...answers: Answer[]) {
  const bodies: string[] = [];
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = answers[Math.min(bodies.push(body), answers.length) - 1]!;
    answer(request, response);
  });
  await new Promise<void>((listening) => server!.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = { witness: { key, url }, oldSize: 3n, verifySignature: nodeVerify, now: () => NOW * 1000 };
  const asked = askWitness(call, { note, size: SIZE, proofFrom: async () => [new Uint8Array(32)] });
  return { line: await asked.catch((error: unknown) => error), bodies };
}

const says =
  (status: number, body = ''): Answer =>
  (_, response) =>
    response.writeHead(status).end(body);

describe('a witness that keeps its word', () => {
  it('has its cosignature taken, from whatever size it knows', async () => {
    for (const answers of [[says(200, cosignature())], [says(409, '5\n'), says(200, cosignature())]]) {
      const { line, bodies } = await ask(...answers);
      expect(await verifyCosignature(decodeNote(note + line), key)).toBe(BigInt(NOW));
      expect(bodies.at(-1)).toMatch(answers.length === 1 ? /^old 3\n/ : /^old 5\n/);
    }
  });

  it('may sign with other keys of its name beside', async () => {
    const other = noteKey('w.example', NoteKeyType.ed25519);
    const { line } = await ask(says(200, signatureLine(other, new Uint8Array(99)) + cosignature()));
    expect(await verifyCosignature(decodeNote(note + line), key)).toBe(BigInt(NOW));
  });
});

describe('a witness is passed over that', () => {
  const older = encodeCheckpoint({ origin: 'log/a', size: SIZE - 1n, root: new Uint8Array(32) });
  const wrongs: [string, Answer[]][] = [
    ['does not know the log', [says(404)]],
    ['finds the proof bad', [says(422)]],
    ['fails', [says(500, cosignature())]],
    ['answers nothing', [says(200)]],
    ['answers no signature lines', [says(200, '<html>')]],
    ['names no size that it knows', [says(409, 'none')]],
    ['names a size that is no number of entries', [says(409, '-1\n')]],
    ['has seen a larger log', [says(409, '8\n')]],
    ['disagrees with the size that it named itself', [says(409, '5\n')]],
    ['replays what it signed for an older checkpoint', [says(200, cosignature(older))]],
    ['signs for a time to come', [says(200, cosignature(text, NOW + 3600))]],
    ['signs for a time long past', [says(200, cosignature(text, NOW - 3600))]],
    ['cuts its signature short', [says(200, signatureLine(key, new Uint8Array(71)))]],
    ['signs as another', [says(200, cosignature().replace('w.example', 'x.example'))]],
    ['never ends', [(_, response) => endless(response)]],
    ['breaks off', [(request) => request.socket.destroy()]],
    ['sends us elsewhere', [(_, response) => response.writeHead(307, { location: '/add-checkpoint' }).end()]],
  ];

  it.each(wrongs)('%s', async (_, answers) => {
    const { line, bodies } = await ask(...answers);
    expect(line).toBeInstanceOf(WitnessRefused);
    expect(bodies.length).toBeLessThanOrEqual(2);
  });

  it.each([
    [403, 'it knows no key that signed this checkpoint; tell it the newest verifier key'],
    [404, 'it does not know this log; tell it the verifier key'],
    [422, 'this log does not extend what it has cosigned'],
  ])('answers %i, and the reason says what that means', async (status, meaning) => {
    const { line } = await ask(says(status));
    expect((line as Error).message).toBe(`it answered ${status}: ${meaning}`);
  });

  it('hangs, and within seconds', async () => {
    const { line } = await ask((_, response) => response.writeHead(200).write('— '));
    expect(line).toBeInstanceOf(WitnessRefused);
  });
});

function endless(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write('x'.repeat(16_384)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
