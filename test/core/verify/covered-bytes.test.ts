import { describe, expect, it } from 'vitest';
import { equalBytes, toHex } from '../../../src/core/bytes.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { sha256 } from '../../../src/core/sha256.js';
import { assembleTransparentStatement } from '../../../src/core/statement/transparent-statement.js';
import { coveredBytes } from '../../../src/core/verify/covered-bytes.js';
import type { Verdict } from '../../../src/core/verify/verdict.js';
import { verifyEvent } from '../../../src/core/verify/verify-event-in-log.js';
import { examineTransparentStatement } from '../../../src/core/verify/verify-transparent-statement.js';
import { sampleSealedLog } from './sample-sealed-log.js';
import {
  logged,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAssetFreeEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from './sample-transparent-statement.js';

const { issuer, statementLog, sealer } = sampleSigners;
const attributes = sampleAttributes(SAMPLE_VCON);
const isAmong = (wanted: Uint8Array, messages: readonly Uint8Array[]) =>
  messages.some((message) => equalBytes(message, wanted));

/** A check, and every message whose signature it checked. */
async function recorded(check: (trust: { verifySignature: typeof webCryptoVerify }) => Promise<Verdict>) {
  const messages: Uint8Array[] = [];
  const verdict = await check({
    verifySignature: (key, alg, message, signature) => {
      messages.push(message);
      return webCryptoVerify(key, alg, message, signature);
    },
  });
  expect(verdict.contradictions).toEqual([]);
  return { messages, proofs: verdict.claims.flatMap(({ by }) => by) };
}

describe('the bytes that a proof covers', () => {
  it.each([
    ['asset', sampleAssetEvent(attributes)],
    ['asset-free', sampleAssetFreeEvent(attributes)],
  ] as const)('are those that were hashed to the leaf and signed, for an %s event', async (kind, event) => {
    const statement = await sampleStatement(attributes);
    const parts = { rfc9162Receipt: await statementLogReceipt(statement), ...(await logged(event)) };
    const { messages, proofs } = await recorded((how) =>
      examineTransparentStatement(assembleTransparentStatement(statement, parts), {
        issuerKeys: [issuer.publicKey],
        logKeys: [statementLog.publicKey, sealer.publicKey],
        document: SAMPLE_VCON,
        ...how,
      }),
    );
    const inclusions = proofs.filter((proof) => proof.type === 'inclusion');
    expect(inclusions.map(({ vds }) => vds).sort()).toEqual([1, 3]);
    for (const proof of inclusions) {
      const { bytes, prefix, form } = coveredBytes(proof).leaf!();
      expect(toHex(sha256(bytes))).toBe(proof.leaf);
      expect([form, prefix]).toEqual(proof.vds === 1 ? ['cbor', 1] : ['text', kind === 'asset' ? 9 : 33]);
    }
    const signed = proofs.filter(({ type }) => type !== 'digest');
    expect(signed.map(({ type }) => type)).toContain('signature');
    for (const proof of signed) expect(isAmong(coveredBytes(proof).signed!().bytes, messages)).toBe(true);
    // A verdict may be sent elsewhere or stored: it states facts, and has no evidence in it.
    expect(proofs.map((proof) => Reflect.ownKeys({ ...proof }))).toEqual(proofs.map(Object.keys));
  });

  it('are the sealed state where the seal is the proof', async () => {
    const log = sampleSealedLog({ leaves: 3 });
    const { messages, proofs } = await recorded(async (how) =>
      verifyEvent(
        log.events[1]!,
        { massif: log.massif(0), seal: await log.seal() },
        { logKeys: [sealer.publicKey], ...how },
      ),
    );
    expect(proofs.map(({ type }) => type)).toEqual(['inclusion']);
    const { leaf, signed } = coveredBytes(proofs[0]!);
    expect(toHex(sha256(leaf!().bytes))).toBe(toHex(log.leaves[1]!));
    expect(isAmong(signed!().bytes, messages)).toBe(true);
  });
});
