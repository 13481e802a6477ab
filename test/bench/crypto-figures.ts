import { createPublicKey, sign, verify } from 'node:crypto';
import {
  createSign1,
  encodeSign1,
  readTemplate,
  type Sha256,
  signatureInput,
  type TransparentStatementTrust,
  type VerifySignature,
  verifyTransparentStatement,
  webCryptoVerify,
} from '../../src/core/index.js';
import { statementHeader } from '../../src/core/statement/signed-statement.js';
import { nodeSigner } from '../../src/platform/keys/evidence-signer.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import { nodeSha256 } from '../../src/platform/node-sha256.js';
import type { BenchPlan } from './bench-plan.js';
import { processorSeconds } from './processor-seconds.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { newSubject, templateAttributes } from './template-event.js';

/** Operations per second of processor time, a value a round. */
export interface CryptoFigures {
  readonly es256Signs: number[];
  readonly signedStatements: number[];
  readonly es256Verifies: number[];
  readonly transparentStatementsNode: number[];
  readonly transparentStatementsWebCrypto: number[];
  /** How many ES256 signatures one transparent statement has checked, counted. */
  readonly signaturesPerStatement: number;
}

type Work = () => Promise<unknown> | unknown;

/** Until the checks of a statement are compiled. Cold, they take twice as long beside a signature, which is OpenSSL's work. */
const WARM_UP_SECONDS = 1;

/** Runs each work in turn, round after round, so that a busy spell of the machine falls on all of them. */
async function interleaved(works: readonly Work[], plan: BenchPlan): Promise<number[][]> {
  const rates = works.map((): number[] => []);
  for (const work of works) await perSecond(work, WARM_UP_SECONDS);
  for (let round = 0; round < plan.rounds; round += 1)
    for (const [place, work] of works.entries()) rates[place]!.push(await perSecond(work, plan.cryptoSeconds));
  return rates;
}

async function perSecond(work: Work, seconds: number): Promise<number> {
  let done = 0;
  const worked = await processorSeconds(async () => {
    for (const until = performance.now() + seconds * 1000; performance.now() < until; done += 1) await work();
  });
  return done / worked;
}

/**
 * Signing a statement of a template event against signing its bytes alone, and checking a transparent statement of the
 * service against checking one signature alone: both in this process, one at a time.
 * @throws {VerificationError} when the service's own statement does not verify
 */
export async function measureCrypto(
  service: ServiceUnderTest,
  transparentStatement: Uint8Array,
  plan: BenchPlan,
): Promise<CryptoFigures> {
  const { privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
  const signer = nodeSigner(privateKey);
  const template = readTemplate(templateAttributes(newSubject()))!;
  const signStatement = async () => {
    const header = statementHeader(template, { ...signer, issuer: 'did:web:archive.example' });
    const sign1 = await createSign1(header, template.payload, signer);
    encodeSign1(sign1);
    return sign1;
  };
  const sample = await signStatement();
  const message = signatureInput(sample.protectedBytes, template.payload);
  const raw = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  const rawPublic = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' } as const;
  const check = (verifySignature: VerifySignature, sha256?: Sha256) =>
    checkStatement(service, transparentStatement, { verifySignature, sha256 });
  const [es256Signs, signedStatements, es256Verifies, transparentStatementsNode, transparentStatementsWebCrypto] =
    await interleaved(
      [
        () => sign('sha256', message, raw),
        signStatement,
        () => verify('sha256', message, rawPublic, sample.signature),
        () => check(nodeVerify, nodeSha256),
        () => check(webCryptoVerify),
      ],
      plan,
    );
  let signaturesPerStatement = 0;
  await check((...signature) => {
    signaturesPerStatement += 1;
    return nodeVerify(...signature);
  });
  return {
    es256Signs: es256Signs!,
    signedStatements: signedStatements!,
    es256Verifies: es256Verifies!,
    transparentStatementsNode: transparentStatementsNode!,
    transparentStatementsWebCrypto: transparentStatementsWebCrypto!,
    signaturesPerStatement,
  };
}

/** Everything but the document, which a verifier hashes once however many statements are about it. */
async function checkStatement(
  service: ServiceUnderTest,
  bytes: Uint8Array,
  platform: Pick<TransparentStatementTrust, 'verifySignature' | 'sha256'>,
) {
  const { logKeys, issuerKeys } = service;
  const { claims } = await verifyTransparentStatement(bytes, { logKeys, issuerKeys, ...platform });
  if (!claims.some(({ kind }) => kind === 'event')) throw new Error('a transparent statement has no proven event');
}
