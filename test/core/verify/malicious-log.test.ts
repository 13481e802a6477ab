import { describe, expect, it } from 'vitest';
import { type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { Header } from '../../../src/core/cose/labels.js';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { readSeal } from '../../../src/core/receipt/seal.js';
import { verifyConsistency } from '../../../src/core/verify/verify-consistency.js';
import { verifyEvent } from '../../../src/core/verify/verify-event-in-log.js';
import { type ProvenMassif, peaksAt, proveLog, type SealedMassif } from '../../../src/core/verify/verify-log.js';
import { recomputeMassif } from '../../../src/core/verify/verify-massif.js';
import { verifyPeakReceipts } from '../../../src/core/verify/verify-peak-receipts.js';
import { verifyPublicAsset } from '../../../src/core/verify/verify-public-asset.js';
import type { ReceiptTrust } from '../../../src/core/verify/verify-receipt.js';
import { verifyReceipt } from '../../../src/core/verify/verify-receipt.js';
import { flipBit } from '../massif/sample-log.js';
import { sampleSealedLog } from './sample-sealed-log.js';
import {
  SAMPLE_STATEMENT_LOG,
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from './sample-transparent-statement.js';

const { sealer, stranger, statementLog } = sampleSigners;
const trust: ReceiptTrust = { logKeys: [sealer.publicKey, statementLog.publicKey] };
const PUBLIC_TENANCY = '6ea5cd00-0000-4000-8000-000000000000';
const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';

const log = sampleSealedLog({ leaves: 11 });
/** The same log up to leaf 5, and other leaves from there on. */
const fork = sampleSealedLog({ leaves: 12, event: (leaf) => (leaf < 5 ? {} : { operation: 'Forged' }) });
/** The log of a tenancy that is another one, under the same key. */
const elsewhere = sampleSealedLog({ leaves: 11, tenancy: OTHER_TENANCY });
const strangers = sampleSealedLog({ leaves: 11, signer: stranger });

const sealed = async (massif: number, leaves = Math.min(11, 4 * massif + 4), of = log) => ({
  massif: of.massif(massif, leaves),
  seal: await of.seal(leaves),
});
/** The whole log, massif by massif. */
const files = (of = log) => Promise.all([sealed(0, 4, of), sealed(1, 8, of), sealed(2, 11, of)]);

const allOf = (receipts: readonly Uint8Array[]): [number, CborValue][] => [[Header.peakReceipts, [...receipts]]];

/** Checks what a seal carries beside its signature, with one thing changed. */
async function checkReceipts(change: (receipts: readonly Uint8Array[]) => [number | string, CborValue][]) {
  const sign1 = decodeSign1(await log.seal(7));
  const receipts = sign1.unprotectedHeader.get(Header.peakReceipts) as Uint8Array[];
  const seal = readSeal(encodeSign1({ ...sign1, unprotectedHeader: new Map(change(receipts)) }));
  return verifyPeakReceipts(seal, peaksAt(recomputeMassif(log.massif(1, 7)), seal.state.size), trust);
}

/** Every massif of a log, proven. */
async function prove(sealedMassifs: readonly SealedMassif[], withTrust: ReceiptTrust): Promise<ProvenMassif[]> {
  const proven: ProvenMassif[] = [];
  for await (const one of proveLog(sealedMassifs, withTrust)) proven.push(one);
  return proven;
}

describe('an honest log', () => {
  it('may leave the receipts of its peaks out of a seal, which no signature covers', async () => {
    await expect(checkReceipts(allOf)).resolves.toBeUndefined();
    await expect(checkReceipts(() => [])).resolves.toBeUndefined();
  });

  it('is proven by its files, from the first massif or from a later one', async () => {
    const proven = await prove(await files(), {
      ...trust,
      log: { subject: 'tenant/112758ce-a8cb-4924-8df8-fcba1e31f8b0' },
    });
    expect(proven.map(({ massif }) => massif.index)).toEqual([0, 1, 2]);
    expect(await prove((await files()).slice(1), trust)).toHaveLength(2);
  });

  it.each(log.events.map((event, leaf) => [leaf, event] as const))('holds its event %i', async (leaf, event) => {
    await verifyEvent(event, await sealed(Math.floor(leaf / 4)), trust);
    await verifyReceipt(await log.receipt(leaf), { event }, trust);
  });

  it.each([
    [1, 1],
    [1, 11],
    [4, 5],
    [5, 11],
    [7, 8],
    [8, 11],
    [11, 11],
  ])('of %i leaves is extended by that of %i', async (from, to) => {
    const first = Math.floor((from - 1) / 4);
    const massifs = Array.from({ length: Math.floor((to - 1) / 4) - first + 1 }, (_, at) => log.massif(first + at, to));
    await verifyConsistency({ seal: await log.seal(from) }, { seal: await log.seal(to), massifs }, trust);
    const held = { seal: await log.seal(from), massif: log.massif(first, from) };
    await verifyConsistency(held, { seal: await log.seal(to), massifs }, trust);
  });
});

describe('a malicious server is refused by name:', () => {
  const eventAt = (leaf: number) => log.events[leaf]!;
  const attacks: [string, string, () => Promise<unknown>][] = [
    [
      'a split view: a validly sealed fork shown later',
      'consistency_invalid',
      async () =>
        verifyConsistency(
          { seal: await log.seal(7), massif: log.massif(1, 7) },
          { seal: await fork.seal(12), massifs: [fork.massif(1, 12), fork.massif(2, 12)] },
          trust,
        ),
    ],
    [
      'a split view, when only the older seal was kept',
      'seal_signature_invalid',
      async () =>
        verifyConsistency(
          { seal: await log.seal(7) },
          { seal: await fork.seal(12), massifs: [fork.massif(1, 12), fork.massif(2, 12)] },
          trust,
        ),
    ],
    [
      'a rollback to a state that it once sealed',
      'consistency_invalid',
      async () =>
        verifyConsistency(
          { seal: await log.seal(7), massif: log.massif(1, 7) },
          { seal: await log.seal(6), massifs: [log.massif(1, 7)] },
          trust,
        ),
    ],
    [
      'a newer state that was sealed before the older one',
      'consistency_invalid',
      async () =>
        verifyConsistency(
          { seal: await log.seal(5), massif: log.massif(1, 5) },
          { seal: await log.seal(7, 1), massifs: [log.massif(1, 7)] },
          trust,
        ),
    ],
    [
      'a leaf that was sealed under another key in the trie, which no node covers',
      'consistency_invalid',
      async () => {
        const renamed = sampleSealedLog({ leaves: 11, trieIdentity: ({ identity }) => `${identity}0` });
        const newer = { seal: await log.seal(11), massifs: [renamed.massif(1), renamed.massif(2)] };
        return verifyConsistency({ seal: await log.seal(7), massif: log.massif(1, 7) }, newer, trust);
      },
    ],
    [
      'the last sealed leaf alone under another key in the trie',
      'consistency_invalid',
      async () => {
        const last = log.events[6]!.identity;
        const trieIdentity = ({ identity }: { identity: string }) => (identity === last ? `${identity}0` : identity);
        const renamed = sampleSealedLog({ leaves: 11, trieIdentity });
        const newer = { seal: await log.seal(11), massifs: [renamed.massif(1), renamed.massif(2)] };
        return verifyConsistency({ seal: await log.seal(7), massif: log.massif(1, 7) }, newer, trust);
      },
    ],
    [
      'a massif that begins with the idtimestamp with which the one before it ended',
      'consistency_invalid',
      async () => {
        const idAt = (leaf: number) => BigInt(leaf < 4 ? leaf + 1 : leaf) << 24n;
        return prove(await files(sampleSealedLog({ leaves: 11, idAt })), trust);
      },
    ],
    [
      'a seal of another log over nodes that extend this one',
      'log_mismatch',
      async () => {
        const twin = sampleSealedLog({ leaves: 8, tenancy: OTHER_TENANCY, event: (leaf) => ({ ...eventAt(leaf) }) });
        const newer = { seal: await twin.seal(8), massifs: [log.massif(1, 8)] };
        return verifyConsistency({ seal: await log.seal(7), massif: log.massif(1, 7) }, newer, trust);
      },
    ],
    [
      'a massif cut short below what its seal covers',
      'insufficient_data',
      async () => prove([{ massif: log.massif(0, 3), seal: await log.seal(4) }], trust),
    ],
    [
      'a massif cut inside a leaf’s parents',
      'massif_corrupt',
      async () => prove([{ massif: log.massif(0, 4).slice(0, -32), seal: await log.seal(3) }], trust),
    ],
    [
      'a massif that is not a whole number of nodes',
      'massif_corrupt',
      async () => verifyEvent(eventAt(0), { massif: log.massif(0, 4).slice(0, -1), seal: await log.seal(4) }, trust),
    ],
    [
      'one massif left out',
      'consistency_invalid',
      async () => prove([(await files())[0]!, (await files())[2]!], trust),
    ],
    [
      'a massif that continues another history',
      'consistency_invalid',
      async () => prove([await sealed(0, 4, elsewhere), await sealed(1, 8)], trust),
    ],
    [
      'seals of two logs beside each other',
      'log_mismatch',
      async () => {
        const twin = sampleSealedLog({ leaves: 8, tenancy: OTHER_TENANCY, event: (leaf) => ({ ...eventAt(leaf) }) });
        return prove([await sealed(0, 4), { massif: log.massif(1, 8), seal: await twin.seal(8) }], trust);
      },
    ],
    [
      'a seal over another size than its peaks are of',
      'seal_signature_invalid',
      async () => {
        const sign1 = decodeSign1(await log.seal(4));
        const state = { 1: 4, 3: 1737045850004, 4: 0x9470003611017900n + (3n << 24n), 6: 1, 7: 2 };
        const payload = encodeCbor(
          new Map(Object.entries({ ...state, 1: 3 }).map(([key, value]) => [Number(key), value])),
        );
        return prove([{ massif: log.massif(0, 4), seal: encodeSign1({ ...sign1, payload }) }], trust);
      },
    ],
    [
      'a seal with another time than the last leaf that it covers',
      'massif_corrupt',
      async () => {
        const idtimestamp = BigInt(`0x${eventAt(3).merklelog_entry.commit.idtimestamp.slice(2)}`) + 1n;
        return prove([{ massif: log.massif(0), seal: await log.seal(4, undefined, idtimestamp) }], trust);
      },
    ],
    [
      'a seal without the receipt of its last peak',
      'malformed',
      () => checkReceipts((receipts) => [[Header.peakReceipts, receipts.slice(0, -1)]]),
    ],
    [
      'a seal with something beside its receipts that no signature covers',
      'unsupported',
      () => checkReceipts((receipts) => [...allOf(receipts), ['note', 'approved']]),
    ],
    [
      'a receipt in a seal with something that no signature covers',
      'malformed',
      () => {
        const noted = (receipt: Uint8Array) =>
          encodeSign1({ ...decodeSign1(receipt), unprotectedHeader: new Map([['note', 'approved']]) });
        return checkReceipts(([first, ...others]) => allOf([noted(first!), ...others]));
      },
    ],
    [
      'a seal by a key that it carries itself',
      'log_key_not_trusted',
      async () => verifyEvent(eventAt(0), await sealed(0, 4, strangers), trust),
    ],
    [
      'a receipt by a key that it carries itself',
      'log_key_not_trusted',
      async () => verifyReceipt(await strangers.receipt(2), { event: eventAt(2) }, trust),
    ],
    [
      'an event under a seal that does not cover it yet',
      'insufficient_data',
      async () => verifyEvent(eventAt(3), { massif: log.massif(0, 4), seal: await log.seal(3) }, trust),
    ],
    ['an event of another massif', 'insufficient_data', async () => verifyEvent(eventAt(5), await sealed(0), trust)],
    [
      'an event with one attribute changed',
      'leaf_mismatch',
      async () => verifyEvent({ ...eventAt(2), event_attributes: { step: 'another' } }, await sealed(0), trust),
    ],
    [
      'an event at the place of another one',
      'leaf_mismatch',
      async () => verifyEvent({ ...eventAt(2), merklelog_entry: eventAt(1).merklelog_entry }, await sealed(0), trust),
    ],
    [
      'an event at the place of an interior node',
      'leaf_mismatch',
      async () => {
        const { idtimestamp } = eventAt(2).merklelog_entry.commit;
        const event = { ...eventAt(2), merklelog_entry: { commit: { index: '2', idtimestamp } } };
        return verifyEvent(event, await sealed(0), trust);
      },
    ],
    [
      'a leaf whose trie entry is another event’s',
      'leaf_mismatch',
      async () => {
        const wrongTrie = sampleSealedLog({ leaves: 4, trieIdentity: () => 'assets/x/events/y' });
        return verifyEvent(eventAt(2), await sealed(0, 4, wrongTrie), trust);
      },
    ],
    [
      'an event in the log of another tenancy',
      'log_mismatch',
      async () => {
        const stolen = sampleSealedLog({ leaves: 4, tenancy: OTHER_TENANCY, event: (leaf) => ({ ...eventAt(leaf) }) });
        return verifyEvent(eventAt(2), await sealed(0, 4, stolen), trust);
      },
    ],
    [
      'a receipt of another tenancy’s log for the same event',
      'log_mismatch',
      async () => {
        const stolen = sampleSealedLog({ leaves: 4, tenancy: OTHER_TENANCY, event: (leaf) => ({ ...eventAt(leaf) }) });
        return verifyReceipt(await stolen.receipt(2), { event: eventAt(2) }, trust);
      },
    ],
    [
      'the receipt of the event beside it',
      'inclusion_path_invalid',
      async () => verifyReceipt(await log.receipt(3), { event: eventAt(2) }, trust),
    ],
    [
      'a statement log’s receipt of another size than asked for',
      'inclusion_path_invalid',
      async () => {
        const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
        return verifyReceipt(await statementLogReceipt(statement), { statement }, { ...trust, treeSize: 8n });
      },
    ],
    [
      'a receipt of another statement log',
      'log_mismatch',
      async () => {
        const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
        const pinned = { ...trust, log: { ...SAMPLE_STATEMENT_LOG, subject: 'statements/public' } };
        return verifyReceipt(await statementLogReceipt(statement), { statement }, pinned);
      },
    ],
    [
      'a tenancy log’s receipt for a statement',
      'malformed',
      async () =>
        verifyReceipt(await log.receipt(2), { statement: await sampleStatement(sampleAttributes(SAMPLE_VCON)) }, trust),
    ],
    [
      'a signature in DER, another spelling of the same numbers',
      'signature_malformed',
      async () => {
        const sign1 = decodeSign1(await log.receipt(2));
        return verifyReceipt(
          encodeSign1({ ...sign1, signature: derOf(sign1.signature) }),
          { event: eventAt(2) },
          trust,
        );
      },
    ],
    [
      'a signature with bytes after it',
      'signature_malformed',
      async () => {
        const sign1 = decodeSign1(await log.receipt(2));
        const signature = Uint8Array.of(...sign1.signature, 0);
        return verifyReceipt(encodeSign1({ ...sign1, signature }), { event: eventAt(2) }, trust);
      },
    ],
    [
      'a signature of a megabyte',
      'signature_malformed',
      async () => {
        const sign1 = decodeSign1(await log.receipt(2));
        return verifyReceipt(
          encodeSign1({ ...sign1, signature: new Uint8Array(1 << 20) }),
          { event: eventAt(2) },
          trust,
        );
      },
    ],
  ];

  it.each(attacks)('%s', async (_, code, attack) => {
    await expect(attack()).rejects.toMatchObject({ name: 'VerificationError', code });
  });

  it('any single bit of a massif file turned', async () => {
    const good = await sealed(0);
    for (const offset of good.massif.keys()) {
      const turned = { ...good, massif: flipBit(good.massif, offset, offset % 8) };
      const readAll = Promise.all(log.events.slice(0, 4).map((event) => verifyEvent(event, turned, trust)));
      await expect(readAll, `byte ${offset}`).rejects.toMatchObject({ name: 'VerificationError' });
    }
  });
});

describe('a public asset', () => {
  const ASSET = 'publicassets/0192e8f5-1111-7000-8000-000000000001';
  const made = sampleSealedLog({
    leaves: 4,
    tenancy: PUBLIC_TENANCY,
    event: (leaf) => ({
      tenant_identity: `tenant/${SAMPLE_TENANCY}`,
      identity: `${ASSET}/events/0192e8f5-2222-7000-8000-00000000000${leaf}`,
      operation: leaf === 0 ? 'NewAsset' : 'Record',
      timestamp_accepted: `2025-01-16T16:12:3${leaf}Z`,
      asset_attributes:
        leaf === 0 ? { colour: 'red', weight: '1', box: { width: '2' } } : leaf === 2 ? { colour: 'blue' } : {},
    }),
  });
  const asset = { identity: ASSET, attributes: { colour: 'blue', weight: '1', box: { width: '2' } } };
  const history = () =>
    Promise.all(made.events.map(async (event, leaf) => ({ event, receipt: await made.receipt(leaf) })));

  it('verifies with the receipt of each of its events', async () => {
    const { outcome, claims, notCovered } = await verifyPublicAsset(asset, await history(), trust);
    expect([outcome, claims]).toMatchObject(['verified', [{ kind: 'public_asset', facts: { ...asset, events: 4 } }]]);
    expect(notCovered[0]!.members).toEqual(['completeness']);
  });

  it('is refused with a null in its attributes, which bencode would not show', async () => {
    const events = await history();
    const { attributes } = asset;
    for (const forged of [null, { forged: null }, [null]])
      for (const place of [{ forged }, { box: { ...attributes.box, forged } }]) {
        const nulled = { ...asset, attributes: { ...attributes, ...place } };
        await expect(verifyPublicAsset(nulled, events, trust)).rejects.toMatchObject({ code: 'event_mismatch' });
      }
  });

  it('is refused when its events are in the log of the tenancy that made it: they are private there', async () => {
    const own = sampleSealedLog({ leaves: 4, event: (leaf) => made.events[leaf]! });
    const events = await Promise.all(
      own.events.map(async (event, leaf) => ({ event, receipt: await own.receipt(leaf) })),
    );
    await expect(verifyPublicAsset(asset, events, trust)).rejects.toMatchObject({ code: 'log_mismatch' });
  });

  it('is refused with attributes that no event gave it', async () => {
    const repainted = { ...asset, attributes: { ...asset.attributes, colour: 'red' } };
    await expect(verifyPublicAsset(repainted, await history(), trust)).rejects.toMatchObject({
      code: 'event_mismatch',
    });
    const numbered = { ...asset, attributes: { ...asset.attributes, weight: 1 } };
    await expect(verifyPublicAsset(numbered, await history(), trust)).rejects.toMatchObject({ code: 'event_mismatch' });
  });

  it('is refused without its creation, with an event left out that changed it, and with one of another asset', async () => {
    const all = await history();
    for (const events of [all.slice(1), all.filter((_, leaf) => leaf !== 2), []])
      await expect(verifyPublicAsset(asset, events, trust)).rejects.toMatchObject({ code: 'event_mismatch' });
    await expect(verifyPublicAsset({ ...asset, identity: `${ASSET.slice(0, -1)}2` }, all, trust)).rejects.toMatchObject(
      {
        code: 'event_mismatch',
      },
    );
  });

  it('is refused with an event twice, with one that is older than its creation, and with a second creation', async () => {
    const [first, second, ...rest] = await history();
    const older = { ...second!, event: { ...second!.event, timestamp_accepted: '2001-01-01T00:00:00Z' } };
    const again = { ...second!, event: { ...second!.event, operation: 'NewAsset' } };
    for (const events of [
      [first!, second!, second!, ...rest],
      [first!, older, ...rest],
      [first!, again, ...rest],
    ])
      await expect(verifyPublicAsset(asset, events, trust)).rejects.toMatchObject({ code: 'event_mismatch' });
  });

  it('shows the value that the last event set, in whatever order the events come', async () => {
    await verifyPublicAsset(asset, (await history()).toReversed(), trust);
  });

  it('is refused with a receipt of another of its events', async () => {
    const [first, second, ...rest] = await history();
    const swapped = [first!, { ...second!, receipt: rest[0]!.receipt }, ...rest];
    await expect(verifyPublicAsset(asset, swapped, trust)).rejects.toMatchObject({ code: 'inclusion_path_invalid' });
  });
});

function derOf(raw: Uint8Array): Uint8Array {
  const integer = (part: Uint8Array) => {
    const bytes = part[0]! & 0x80 ? Uint8Array.of(0, ...part) : part;
    return [0x02, bytes.length, ...bytes];
  };
  const body = [...integer(raw.subarray(0, 32)), ...integer(raw.subarray(32))];
  return Uint8Array.of(0x30, body.length, ...body);
}
