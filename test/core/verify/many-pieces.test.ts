import { expect, it } from 'vitest';
import { toHex, utf8 } from '../../../src/core/bytes.js';
import { plainVerify } from '../../../src/core/cose/plain-verify.js';
import { evidenceFile } from '../../../src/core/evidence/evidence-file.js';
import { matchReceipts } from '../../../src/core/evidence/receipt-evidence.js';
import { readGivenStatements } from '../../../src/core/evidence/statement-evidence.js';
import { sha256 } from '../../../src/core/sha256.js';
import type { Claim } from '../../../src/core/verify/claim.js';
import { documentFindings } from '../../../src/core/verify/match-document.js';
import {
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from './sample-transparent-statement.js';

it('a document is compared with the claims that name one of its digests, and with one other', () => {
  const looks = (count: number) => {
    let seen = 0;
    const documents = Array.from({ length: count }, (_, at) => utf8(`document ${at}`));
    const claims = documents.map((document, at): Claim => {
      const facts = {
        payload_hash: toHex(sha256(document)),
        get payload_hash_alg() {
          seen += 1;
          return 'SHA-256';
        },
      };
      return { kind: 'statement', piece: `statement ${at}`, by: [], facts };
    });
    for (const document of documents) expect(documentFindings(claims, document).claims).toHaveLength(1);
    return seen / count;
  };
  expect(looks(80)).toBeLessThan(4);
});

it('receipts and statements in one order cost a signature each', async () => {
  const steps = Array.from({ length: 12 }, (_, step) => ({ step: String(step) }));
  const statements = await Promise.all(steps.map((step) => sampleStatement(sampleAttributes(SAMPLE_VCON, step))));
  const files = (name: string, all: readonly Uint8Array[]) =>
    Promise.all(all.map((bytes, at) => evidenceFile(`${at}.${name}`, bytes)));
  const receipts = await Promise.all(statements.map((statement) => statementLogReceipt(statement)));
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
  expect([checks, given.every(({ proofs }) => proofs.length === 1)]).toEqual([steps.length, true]);
});
