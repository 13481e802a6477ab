import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { plainVerify } from '../../../src/core/cose/plain-verify.js';
import { decodeSign1 } from '../../../src/core/cose/sign1.js';
import { evidenceFile } from '../../../src/core/evidence/evidence-file.js';
import { matchReceipts } from '../../../src/core/evidence/receipt-evidence.js';
import { readGivenStatements } from '../../../src/core/evidence/statement-evidence.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { attachRfc9162Inclusion, signRoot } from '../../../src/core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionPath } from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { statementEntry } from '../../../src/core/statement/statement-entry.js';
import type { Claim } from '../../../src/core/verify/claim.js';
import { copyOf, heldCopies, holding } from '../../../src/core/verify/held-copy.js';
import { documentFindings } from '../../../src/core/verify/match-document.js';
import { historyFindings } from '../../../src/core/verify/one-history.js';
import { sealProof } from '../../../src/core/verify/proofs.js';
import { verifySealOfMassif } from '../../../src/core/verify/verify-log.js';
import { recomputeMassif } from '../../../src/core/verify/verify-massif.js';
import { sampleSealedLog } from './sample-sealed-log.js';
import {
  SAMPLE_STATEMENT_LOG,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from './sample-transparent-statement.js';

it.each(['SHA-256', 'SHA-384'])(
  'a document is compared with the claims that name one of its digests, and with one other: %s',
  (algorithm) => {
    const digestOf = (bytes: Uint8Array) => createHash(algorithm.replace('-', '')).update(bytes).digest('hex');
    const looks = (count: number) => {
      let seen = 0;
      const documents = Array.from({ length: count }, (_, at) => utf8(`document ${at}`));
      const claims = documents.map((document, at): Claim => {
        const facts = {
          payload_hash: digestOf(document),
          get payload_hash_alg() {
            seen += 1;
            return algorithm;
          },
        };
        return { kind: 'statement', piece: `statement ${at}`, by: [], facts };
      });
      for (const document of documents) expect(documentFindings(claims, document).claims).toHaveLength(1);
      return seen / count;
    };
    expect(looks(80)).toBeLessThan(4);
  },
);

it.each([
  [undefined, 'does not say which hash algorithm made it'],
  ['MD5', '"MD5", is not known'],
])('a payload whose hash algorithm is %s leaves a document unproven, and refuses nothing', (algorithm, why) => {
  const facts = { payload_hash: 'a note', ...(algorithm && { payload_hash_alg: algorithm }) };
  const { claims, contradictions, notCovered } = documentFindings(
    [{ kind: 'event', piece: 'event', by: [], facts }],
    SAMPLE_VCON,
  );
  expect([claims, contradictions]).toEqual([undefined, undefined]);
  expect(notCovered).toEqual([expect.objectContaining({ why: 'unproven', detail: expect.stringContaining(why) })]);
});

const steps = Array.from({ length: 12 }, (_, step) => ({ step: String(step) }));
const samples = () => Promise.all(steps.map((step) => sampleStatement(sampleAttributes(SAMPLE_VCON, step))));

/** How many signatures are checked until each receipt has its statement. */
async function checksFor(statements: readonly Uint8Array[], receipts: readonly Uint8Array[]): Promise<number> {
  const files = (name: string, all: readonly Uint8Array[]) =>
    Promise.all(all.map((bytes, at) => evidenceFile(`${at}.${name}`, bytes)));
  const { statements: given } = await readGivenStatements(await files('statement', statements));
  let checks = 0;
  const keys = {
    logKeys: [sampleSigners.statementLog.publicKey],
    verifySignature: (...args: Parameters<typeof plainVerify>) => {
      checks += 1;
      return plainVerify(...args);
    },
    ...{ statementLog: {}, tenancyLog: {} },
  };
  await matchReceipts(await files('receipt', receipts), given, [], keys);
  expect(given.every(({ proofs }) => proofs.length === 1)).toBe(true);
  return checks;
}

it('receipts and statements in one order cost a signature each', async () => {
  const statements = await samples();
  const receipts = await Promise.all(statements.map((statement) => statementLogReceipt(statement)));
  expect(await checksFor(statements, receipts)).toBe(steps.length);
});

it('receipts of neighbours in a log cost a signature each, in whatever order they are given', async () => {
  const statements = await samples();
  const leaves = statements.map((statement) => rfc9162Leaf(statementEntry(decodeSign1(statement))));
  const { nodes, peaks } = appendLeaves(rfc9162Parent, 0n, [], leaves);
  const size = BigInt(leaves.length);
  const root = await signRoot(rfc9162Root(peaks), size, sampleSigners.statementLog, SAMPLE_STATEMENT_LOG);
  const pathOf = (at: bigint) => rfc9162InclusionPath(at, size, (node) => nodes[Number(node)]!);
  const receipts = leaves.map((_, at) => attachRfc9162Inclusion(root, size, BigInt(at), pathOf(BigInt(at))));
  expect(await checksFor(statements, receipts.reverse())).toBe(steps.length);
});

it('a copy of a log of which nothing else is given is not looked through, however many generations its seals name', async () => {
  const log = sampleSealedLog({ leaves: 4 });
  const keys = { logKeys: [sampleSigners.sealer.publicKey] };
  const massif = recomputeMassif(log.massif(0));
  const seal = await verifySealOfMassif(await log.seal(), massif, keys);
  const generations = Array.from({ length: 50 }, (_, g) => ({ ...seal, subject: `${seal.subject}.${g + 1}` }));
  let looks = 0;
  class Edges extends Map<string, Uint8Array> {
    override [Symbol.iterator]() {
      looks += 1;
      return super[Symbol.iterator]();
    }
  }
  const edges = new Edges(copyOf([massif], [seal]).edges);
  const proof = holding(sealProof(seal), { ...copyOf([massif], [seal]), edges }, generations);
  expect(await historyFindings([{ kind: 'log', piece: 'copy', by: [proof], facts: {} }])).toEqual([]);
  expect([heldCopies(proof).length, looks]).toEqual([51, 0]);
});
