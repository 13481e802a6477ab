import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../../src/core/bytes.js';
import { VerificationError } from '../../../src/core/errors.js';
import { mmrReceiptInForm, readMmrReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import { readRfc9162Receipt } from '../../../src/core/receipt/rfc9162-receipt.js';
import { readSeal } from '../../../src/core/receipt/seal.js';
import { type EventDocument, isAssetEvent, parseEventDocument } from '../../../src/core/statement/event-document.js';
import {
  assembleTransparentStatement,
  readTransparentStatement,
} from '../../../src/core/statement/transparent-statement.js';
import { verifyConsistency } from '../../../src/core/verify/verify-consistency.js';
import { verifyEvent } from '../../../src/core/verify/verify-event-in-log.js';
import { proveLog } from '../../../src/core/verify/verify-log.js';
import { verifyReceipt } from '../../../src/core/verify/verify-receipt.js';
import { verifyStatement } from '../../../src/core/verify/verify-statement.js';
import { verifyTransparentStatement } from '../../../src/core/verify/verify-transparent-statement.js';
import { type Draw, drawFrom, mutatedBytes, mutatedCbor, mutatedJson } from './mutants.js';
import { sampleSealedLog } from './sample-sealed-log.js';
import {
  logged,
  SAMPLE_STATEMENT_LOG,
  SAMPLE_TENANCY_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAssetFreeEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from './sample-transparent-statement.js';

/** How many mutants of each kind; a night's run may ask for more, under another seed. */
const MUTANTS = Number(process.env['MUTANTS'] ?? 300);
const SEED = Number(process.env['MUTANTS_SEED'] ?? 20261121);
const MOST_MS = 2_000;

const { issuer, sealer, statementLog, stranger } = sampleSigners;
const logKeys = [sealer.publicKey, statementLog.publicKey];
const issuerKeys = [issuer.publicKey];
const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';

const log = sampleSealedLog({ leaves: 7 });
const elsewhere = sampleSealedLog({ leaves: 7, tenancy: OTHER_TENANCY });

/** What evidence says once it is accepted, in a form that can be compared. */
const told = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    each instanceof Uint8Array ? toHex(each) : typeof each === 'bigint' ? String(each) : each,
  );

/** One kind of evidence: how it is broken, how it is checked, and what it tells. Acceptance is allowed only of the same. */
interface Kind {
  readonly good: Uint8Array;
  mutate(draw: Draw): Uint8Array;
  verify(evidence: Uint8Array): Promise<unknown>;
  tells(evidence: Uint8Array): unknown;
}

async function transparentStatement(of: 'asset' | 'asset-free', operation = 'vcon_created'): Promise<Uint8Array> {
  const attributes = sampleAttributes(SAMPLE_VCON, { vcon_operation: operation });
  const statement = await sampleStatement(attributes);
  const event = of === 'asset' ? sampleAssetEvent(attributes) : sampleAssetFreeEvent(attributes);
  const rfc9162Receipt = await statementLogReceipt(statement);
  return assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(event)) });
}

const receiptTells = (receipt: Uint8Array) => {
  const { sign1, index, path } = readMmrReceipt(receipt);
  return [sign1.protectedBytes, index, path];
};
const statementReceiptTells = (receipt: Uint8Array) => {
  const { sign1, treeSize, leafIndex, path } = readRfc9162Receipt(receipt);
  return [sign1.protectedBytes, treeSize, leafIndex, path];
};
/** The leaf of an asset-free event does not cover its identity. */
const covered = (event: EventDocument) => (isAssetEvent(event) ? event : { ...event, identity: '' });
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

async function kinds(): Promise<Record<string, Kind>> {
  const [asset, free, other] = await Promise.all([
    transparentStatement('asset'),
    transparentStatement('asset-free'),
    transparentStatement('asset', 'vcon_deleted'),
  ]);
  const statement = readTransparentStatement(asset).entry;
  const strange = await sampleStatement(sampleAttributes(SAMPLE_VCON), stranger);
  const rfcReceipt = await statementLogReceipt(statement);
  const mmrReceipt = await log.receipt(2);
  const foreign = [await elsewhere.receipt(2), await log.receipt(3), await log.receipt(2, 4), rfcReceipt, strange];
  const event = log.events[2]!;
  const [seal, otherSeal, olderSeal] = await Promise.all([log.seal(7), elsewhere.seal(7), log.seal(6)]);
  const [first, massif] = [log.massif(0), log.massif(1)];
  const firstSeal = await log.seal(4);
  const trust = { logKeys, log: SAMPLE_TENANCY_LOG };
  const cbor = (good: Uint8Array, donors: readonly Uint8Array[]) => ({
    good,
    mutate: (draw: Draw) => mutatedCbor(good, donors, draw),
  });
  const transparent = (good: Uint8Array, donors: readonly Uint8Array[]): Kind => ({
    ...cbor(good, donors),
    verify: (bytes) =>
      verifyTransparentStatement(bytes, {
        logKeys,
        issuerKeys,
        document: SAMPLE_VCON,
        statementLog: SAMPLE_STATEMENT_LOG,
        tenancyLog: SAMPLE_TENANCY_LOG,
      }),
    // A receipt or an event that was taken away proves less, and is told as not checked.
    tells: (bytes) => {
      const { entry, rfc9162Receipt, mmrReceipt: ours, event: carried } = readTransparentStatement(bytes);
      const whole = readTransparentStatement(good);
      return [
        entry,
        statementReceiptTells(rfc9162Receipt!),
        ours && carried ? receiptTells(ours) : receiptTells(whole.mmrReceipt!),
        ours && carried ? covered(carried) : covered(whole.event!),
      ];
    },
  });
  return {
    'a transparent statement of an asset event': transparent(asset, [free, other, rfcReceipt, ...foreign]),
    'a transparent statement of an asset-free event': transparent(free, [asset, other, rfcReceipt, ...foreign]),
    'a statement': {
      ...cbor(statement, [strange, other, seal]),
      verify: (bytes) => verifyStatement(bytes, { issuerKeys }),
      tells: (bytes) => readTransparentStatement(bytes).entry,
    },
    'a receipt of a statement log': {
      ...cbor(rfcReceipt, [mmrReceipt, strange, ...foreign]),
      verify: (bytes) => verifyReceipt(bytes, { statement }, { logKeys, log: SAMPLE_STATEMENT_LOG, treeSize: 7n }),
      tells: statementReceiptTells,
    },
    'a receipt of a tenancy log': {
      ...cbor(mmrReceipt, foreign),
      verify: (bytes) => verifyReceipt(bytes, { event }, trust),
      tells: receiptTells,
    },
    'a receipt of a tenancy log in the stock form': {
      ...cbor(mmrReceiptInForm(mmrReceipt, 'map'), foreign),
      verify: (bytes) => verifyReceipt(bytes, { event }, trust),
      tells: receiptTells,
    },
    'a seal': {
      ...cbor(seal, [otherSeal, olderSeal, ...foreign]),
      verify: async (bytes) => {
        for await (const _ of proveLog([{ massif, seal: bytes }], trust));
      },
      // The receipts of peaks are checked where they are used.
      tells: (bytes) => [readSeal(bytes).sign1.protectedBytes, readSeal(bytes).state],
    },
    'a newer seal beside an older one': {
      ...cbor(seal, [otherSeal, olderSeal]),
      verify: (bytes) => verifyConsistency({ seal: olderSeal }, { seal: bytes, massifs: [massif] }, trust),
      tells: (bytes) => readSeal(bytes).state,
    },
    'a massif and the events in it': {
      good: massif,
      mutate: (draw) => mutatedBytes(massif, [first, elsewhere.massif(1)], draw),
      verify: async (bytes) => {
        for await (const _ of proveLog(
          [
            { massif: first, seal: firstSeal },
            { massif: bytes, seal },
          ],
          trust,
        ));
        for (const each of log.events.slice(4)) await verifyEvent(each, { massif: bytes, seal }, trust);
      },
      tells: (bytes) => bytes,
    },
    'the JSON of an event': {
      good: utf8(JSON.stringify(event)),
      mutate: (draw) => utf8(mutatedJson(JSON.stringify(event), draw)),
      verify: async (bytes) => verifyReceipt(mmrReceipt, { event: parseEventDocument(text(bytes)) }, trust),
      tells: (bytes) => parseEventDocument(text(bytes)),
    },
  };
}

describe('of thousands of changes of evidence, each is refused with a code or changes nothing that it tells:', () => {
  const all = kinds();
  it.each([
    'a transparent statement of an asset event',
    'a transparent statement of an asset-free event',
    'a statement',
    'a receipt of a statement log',
    'a receipt of a tenancy log',
    'a receipt of a tenancy log in the stock form',
    'a seal',
    'a newer seal beside an older one',
    'a massif and the events in it',
    'the JSON of an event',
  ])(
    '%s',
    async (name) => {
      const kind = (await all)[name]!;
      await kind.verify(kind.good);
      const expected = told(kind.tells(kind.good));
      for (let seed = SEED; seed < SEED + MUTANTS; seed += 1) {
        const mutant = kind.mutate(drawFrom(seed));
        const begun = performance.now();
        const error = await kind.verify(mutant).then(
          () => undefined,
          (each: unknown) => each,
        );
        const told1 = `${name}, mutant ${seed}: ${toHex(mutant.subarray(0, 4000))}`;
        if (error !== undefined) expect(error, told1).toBeInstanceOf(VerificationError);
        else expect(told(kind.tells(mutant)), told1).toBe(expected);
        expect(performance.now() - begun, told1).toBeLessThan(MOST_MS);
      }
    },
    600_000,
  );
});
