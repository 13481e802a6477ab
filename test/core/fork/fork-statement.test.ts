import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, toHex } from '../../../src/core/bytes.js';
import { decodeCbor, encodeCbor } from '../../../src/core/cose/cbor.js';
import { Header } from '../../../src/core/cose/labels.js';
import { createSign1, decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { VerificationError } from '../../../src/core/errors.js';
import { FORK_EXTRA_BYTES, forkLeaf, forkTrieKey } from '../../../src/core/fork/fork-leaf.js';
import {
  encodeForkPayload,
  FORK_TYPE,
  type LogFork,
  signForkStatement,
} from '../../../src/core/fork/fork-statement.js';
import { firstName, generationName, parseGeneration } from '../../../src/core/fork/log-generation.js';
import {
  decodeForks,
  encodeForks,
  readForkStatement,
  verifyForkStatement,
} from '../../../src/core/fork/read-fork-statement.js';
import { readFixtureFile } from '../../support/read-fixture-file.js';
import { sampleRoot } from '../keys/sample-manifests.js';
import { LOG, sampleFork } from './sample-forks.js';

const signer = sampleRoot(21);
const signed = (fork: LogFork = sampleFork()) => signForkStatement(fork, signer, 'https://archivist.example');
const known = readFixtureFile<Record<string, string>>('fork/fork-statement.json');

/** A signed message with this payload, whatever it says. */
async function message(payload: Uint8Array, subject = `${LOG}.1`): Promise<Uint8Array> {
  const header = new Map<number, string | number | Uint8Array | Map<number, string>>([
    [Header.alg, signer.alg],
    [Header.contentType, FORK_TYPE],
    [Header.kid, signer.kid],
    [Header.claims, new Map([[2, subject]])],
  ]);
  return encodeSign1(await createSign1(header, payload, signer));
}

describe('a fork statement', () => {
  it('is the same bytes as in the known answer, and so are its leaf and its trie key', async () => {
    const statement = await signed();
    expect(toHex(statement)).toBe(known['statement']);
    expect(toHex(forkLeaf(statement, 0x0199c2d000000001n))).toBe(known['leaf']);
    expect(toHex(forkTrieKey(known['tenancy_log']!))).toBe(known['trie_key']);
    expect(toHex(FORK_EXTRA_BYTES)).toBe(known['extra_bytes']);
  });

  it('is read as it was signed, and verifies with its key only', async () => {
    const statement = await signed();
    const read = readForkStatement(statement);
    expect(read).toMatchObject(sampleFork());
    expect(read.bytes).toEqual(statement);
    await verifyForkStatement(read, [signer.publicKey]);
    await expect(verifyForkStatement(read, [sampleRoot(22).publicKey])).rejects.toMatchObject({
      code: 'log_key_not_trusted',
    });
    const changed = statement.slice();
    changed[changed.length - 1]! ^= 1;
    await expect(verifyForkStatement(readForkStatement(changed), [signer.publicKey])).rejects.toMatchObject({
      code: 'seal_signature_invalid',
    });
    expect(decodeForks(encodeForks([statement, statement]))).toHaveLength(2);
  });

  it('is refused if a member is missing, added or of another kind', async () => {
    const payload = decodeCbor(encodeForkPayload(sampleFork())) as Map<number, never>;
    for (const label of payload.keys()) {
      const without = new Map(payload);
      without.delete(label);
      for (const bad of [without, new Map(payload).set(label, null as never)]) {
        const bytes = await message(encodeCbor(bad));
        expect(() => readForkStatement(bytes), `member ${label}`).toThrow(VerificationError);
      }
    }
    const more = await message(encodeCbor(new Map([...payload, [99, 1 as never]])));
    expect(() => readForkStatement(more)).toThrow('not encoded canonically');
    const other = await message(encodeForkPayload(sampleFork()), `${LOG}.2`);
    expect(() => readForkStatement(other)).toThrow('its subject is another log');
  });

  it.each([
    ['a log of another name', { log: `tenant/${LOG.slice(4)}.1` }],
    ['the same generation', { log: LOG }],
    ['a generation before the last seal’s', { last: { ...sampleFork().last, log: `${LOG}.2` } }],
    ['a database that is newer than the last seal', { continues: `${LOG}.1`, log: `${LOG}.3` }],
    [
      'another size than that of the seal',
      { last: { ...sampleFork().last, leaves: 8n, seal: sampleFork().last.seal } },
    ],
    ['a root of another length', { root: new Uint8Array(31) }],
    ['no reason', { reason: ' ' }],
    ['a long reason', { reason: 'x'.repeat(501) }],
  ])('that names %s is refused', async (_, more) => {
    const bytes = await message(encodeForkPayload(sampleFork(more)), 'log' in more ? more.log : `${LOG}.1`);
    expect(() => readForkStatement(bytes)).toThrow(VerificationError);
  });

  it('is refused with anything that no signature covers, without its payload, and as a message of another kind', async () => {
    const sign1 = decodeSign1(await signed());
    const other = (header: [number, string]) => new Map([...sign1.protectedHeader, header]);
    for (const [changed, why] of [
      [{ unprotectedHeader: new Map([['note', 'approved']]) }, 'it has an unprotected header'],
      [{ payload: null }, 'it has no payload'],
      [await createSign1(other([Header.contentType, 'text/plain']), sign1.payload!, signer), 'another content type'],
    ] as const)
      expect(() => readForkStatement(encodeSign1({ ...sign1, ...changed }))).toThrow(why);
  });

  it('is published in a list of byte strings', async () => {
    const statement = await signed();
    expect(() => decodeForks(encodeCbor(new Map([[0, statement]])))).toThrow('the published list is not a list');
    expect(() => decodeForks(encodeCbor(['a']))).toThrow('an element of the list is not bytes');
  });

  it('survives its encoding, whatever it says, and no changed byte is read as another fork', async () => {
    const count = fc.bigInt({ min: 0n, max: 2n ** 53n });
    await fc.assert(
      fc.asyncProperty(
        count,
        count,
        count,
        fc.string({ minLength: 1, maxLength: 50 }),
        fc.nat(),
        async (a, b, c, text, at) => {
          fc.pre(text.trim() !== '');
          const fork = sampleFork({
            leaves: a,
            sealNumber: b,
            reason: text,
            last: { ...sampleFork().last, number: c },
          });
          const statement = await signed(fork);
          expect(readForkStatement(statement)).toMatchObject(fork);
          const changed = statement.slice();
          changed[at % changed.length]! ^= 0xff;
          await expect(
            (async () => verifyForkStatement(readForkStatement(changed), [signer.publicKey]))(),
          ).rejects.toBeInstanceOf(VerificationError);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('the name of a generation', () => {
  it('is the first name, or that with a number behind it', () => {
    expect(generationName({ base: LOG, generation: 0 })).toBe(LOG);
    expect(generationName({ base: LOG, generation: 12 })).toBe(`${LOG}.12`);
    expect(parseGeneration(`${LOG}.12`)).toEqual({ base: LOG, generation: 12 });
    expect(firstName(`${LOG}.12`)).toBe(LOG);
    for (const name of [`${LOG}.0`, `${LOG}.01`, `${LOG}.`, `${LOG}.1.2`, `${LOG}/1`, 'log/a', ''])
      expect([name, parseGeneration(name), firstName(name)]).toEqual([name, undefined, name]);
  });
});

it('a leaf commits to the statement and to the time', () => {
  const bytes = concatBytes(Uint8Array.of(1, 2, 3));
  const leaves = [forkLeaf(bytes, 1n), forkLeaf(bytes, 2n), forkLeaf(Uint8Array.of(1, 2), 1n)].map(toHex);
  expect(new Set(leaves).size).toBe(3);
});
