import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBase64, toHex, utf8 } from '../../../src/core/bytes.js';
import { type CborMap, type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { VerificationError } from '../../../src/core/errors.js';
import { signRoot } from '../../../src/core/receipt/rfc9162-receipt.js';
import { type Sha256, sha256 } from '../../../src/core/sha256.js';
import type { AssetEventDocument, EventDocument } from '../../../src/core/statement/event-document.js';
import { statementEntry } from '../../../src/core/statement/statement-entry.js';
import { assembleTransparentStatement } from '../../../src/core/statement/transparent-statement.js';
import {
  examineTransparentStatement,
  type TransparentStatementTrust,
  verifyTransparentStatement,
} from '../../../src/core/verify/verify-transparent-statement.js';
import { nodeSha256 } from '../../../src/platform/node-sha256.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_STATEMENT_LOG,
  SAMPLE_SUBJECT,
  SAMPLE_TENANCY_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAssetFreeEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from './sample-transparent-statement.js';

const { issuer, statementLog, sealer, stranger } = sampleSigners;
const trust: TransparentStatementTrust = {
  issuerKeys: [issuer.publicKey],
  logKeys: [statementLog.publicKey, sealer.publicKey],
  document: SAMPLE_VCON,
};
const attributes = sampleAttributes(SAMPLE_VCON);

/** All parts of a good transparent statement. */
async function goodParts(event: EventDocument = sampleAssetEvent(attributes)) {
  const statement = await sampleStatement(attributes);
  return { statement, rfc9162Receipt: await statementLogReceipt(statement), ...(await logged(event)) };
}

async function good(event?: EventDocument): Promise<Uint8Array> {
  const { statement, ...transparency } = await goodParts(event);
  return assembleTransparentStatement(statement, transparency);
}

/** A good one with its unprotected header changed. */
async function goodBut(change: (header: CborMap) => void): Promise<Uint8Array> {
  const sign1 = decodeSign1(await good());
  const unprotectedHeader: CborMap = new Map(sign1.unprotectedHeader);
  change(unprotectedHeader);
  return encodeSign1({ ...sign1, unprotectedHeader });
}

/** A good one whose event is changed after the log committed to it. */
function withEvent(change: (event: AssetEventDocument) => object): Promise<Uint8Array> {
  return goodBut((header) => {
    const event = JSON.parse(header.get('event') as string) as AssetEventDocument;
    header.set('event', JSON.stringify({ ...event, ...change(event) }));
  });
}

async function outcomes(wire: Uint8Array, withTrust = trust): Promise<Record<string, string>> {
  const { steps } = await examineTransparentStatement(wire, withTrust);
  return Object.fromEntries(steps.map(({ step, outcome, code }) => [step, code ?? outcome]));
}

const ALL_VERIFIED = {
  payload_hash: 'verified',
  statement_signature: 'verified',
  statement_log_inclusion: 'verified',
  statement_log_receipt: 'verified',
  tenancy_log_inclusion: 'verified',
  tenancy_log_receipt: 'verified',
  event: 'verified',
};

describe('a transparent statement', () => {
  it.each([
    ['an asset event', sampleAssetEvent(attributes)],
    ['an asset-free event', sampleAssetFreeEvent(attributes)],
  ])('of %s verifies in every step', async (_, event) => {
    await verifyTransparentStatement(await good(event), trust);
    expect(await outcomes(await good(event))).toEqual(ALL_VERIFIED);
  });

  it.each([
    ['an asset event', sampleAssetEvent(attributes)],
    ['an asset-free event', sampleAssetFreeEvent(attributes)],
  ])('of %s is hashed, leaves and trees, with the SHA-256 that is handed in', async (_, event) => {
    const wire = await good(event);
    expect(await outcomes(wire, { ...trust, sha256: nodeSha256 })).toEqual(ALL_VERIFIED);
    const other: Sha256 = (...parts) => nodeSha256(...parts, utf8('another hash'));
    expect(await outcomes(wire, { ...trust, sha256: other })).toMatchObject({
      statement_log_receipt: 'receipt_signature_invalid',
      tenancy_log_receipt: 'receipt_signature_invalid',
    });
  });

  it('has the statement log’s receipt first, the MMR receipt in the draft’s form, and the event as text', async () => {
    const header = decodeSign1(await good()).unprotectedHeader;
    const receipts = (header.get(394) as Uint8Array[]).map((receipt) => decodeSign1(receipt));
    expect(receipts.map(({ protectedHeader }) => protectedHeader.get(395))).toEqual([1, 3]);
    const proofs = receipts[1]!.unprotectedHeader.get(396) as Map<number, CborValue[]>;
    expect(proofs.get(-1)![0]).toBeInstanceOf(Uint8Array);
    expect(JSON.parse(header.get('event') as string)).toMatchObject({ operation: 'Record' });
  });

  it('leaves the statement as the log committed to it', async () => {
    const { statement, ...transparency } = await goodParts();
    expect(toHex(statementEntry(assembleTransparentStatement(statement, transparency)))).toBe(toHex(statement));
  });

  it('is verified with pins of the logs that it is really of', async () => {
    const pinned = { ...trust, statementLog: SAMPLE_STATEMENT_LOG, tenancyLog: SAMPLE_TENANCY_LOG };
    expect(await outcomes(await good(), pinned)).toEqual(ALL_VERIFIED);
  });

  it('without its event has an MMR receipt that is not checked, and never verified', async () => {
    const wire = await goodBut((header) => header.delete('event'));
    expect(await outcomes(wire)).toEqual({
      ...ALL_VERIFIED,
      tenancy_log_inclusion: 'not_checked',
      tenancy_log_receipt: 'not_checked',
      event: 'not_checked',
    });
  });

  it('without its MMR receipt has an event that is not checked, and never verified', async () => {
    const wire = await goodBut((header) => header.set(394, [(header.get(394) as Uint8Array[])[0]!]));
    expect(await outcomes(wire)).toEqual({
      ...ALL_VERIFIED,
      tenancy_log_inclusion: 'not_checked',
      tenancy_log_receipt: 'not_checked',
      event: 'not_checked',
    });
  });

  it('without a document has a payload hash that is not checked', async () => {
    expect(await outcomes(await good(), { ...trust, document: undefined })).toMatchObject({
      payload_hash: 'not_checked',
    });
  });

  it('of a registered statement verifies when its event carries that statement', async () => {
    const statement = await sampleStatement(attributes);
    const registered = sampleAssetEvent({ signed_statement: toBase64(statement) });
    const rfc9162Receipt = await statementLogReceipt(statement);
    const wire = assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(registered)) });
    expect(await outcomes(wire)).toEqual(ALL_VERIFIED);
  });

  it('tells every step, also after a refusal', async () => {
    expect(await outcomes(await good(), { ...trust, document: utf8('{}') })).toEqual({
      ...ALL_VERIFIED,
      payload_hash: 'payload_hash_mismatch',
    });
    await expect(verifyTransparentStatement(await good(), { ...trust, document: utf8('{}') })).rejects.toMatchObject({
      name: 'VerificationError',
      code: 'payload_hash_mismatch',
    });
  });
});

describe('the document of a transparent statement', () => {
  const indented = utf8(JSON.stringify(JSON.parse(new TextDecoder().decode(SAMPLE_VCON)), undefined, 2));

  it('may be spelled otherwise than the conserver wrote it', async () => {
    const { steps } = await examineTransparentStatement(await good(), { ...trust, document: indented });
    expect(steps[0]).toMatchObject({ step: 'payload_hash', outcome: 'verified' });
    expect(steps[0]!.detail).toContain('as the conserver writes');
  });

  it('in canonical form alone matches a signed JCS digest, and says so', async () => {
    const jcs = sampleAttributes(utf8('whatever the conserver had'), { payload_jcs_sha256: await jcsOf() });
    const statement = await sampleStatement(jcs);
    const wire = assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
    const { steps } = await examineTransparentStatement(wire, { ...trust, document: indented });
    expect(steps[0]).toMatchObject({ outcome: 'verified', detail: expect.stringContaining('canonical form (JCS)') });
  });

  it.each([
    ['9007199254740991', '9007199254740991', 'verified'],
    ['9007199254740993', '9007199254740992', 'payload_hash_mismatch'],
  ])(
    'with the number %s, canonically %s: %s, for documents may share a form that lost digits',
    async (given, canonical, outcome) => {
      const digest = toHex(sha256(utf8(`{"n":${canonical}}`)));
      const statement = await sampleStatement(sampleAttributes(utf8('another'), { payload_jcs_sha256: digest }));
      const wire = assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
      expect((await outcomes(wire, { ...trust, document: utf8(`{ "n": ${given} }`) })).payload_hash).toBe(outcome);
    },
  );

  it('does not match a JCS digest that only an unproven event has', async () => {
    const plain = sampleAttributes(utf8('whatever the conserver had'));
    const event = sampleAssetEvent({ ...plain, payload_jcs_sha256: await jcsOf() });
    const statement = await sampleStatement(plain);
    const rfc9162Receipt = await statementLogReceipt(statement);
    const unproven = assembleTransparentStatement(statement, { rfc9162Receipt, event });
    expect((await outcomes(unproven, { ...trust, document: indented })).payload_hash).toBe('payload_hash_mismatch');
    const proven = assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(event)) });
    expect((await outcomes(proven, { ...trust, document: indented })).payload_hash).toBe('verified');
  });

  /** RFC 8785 of the sample, which needs nothing but sorted keys. */
  async function jcsOf(): Promise<string> {
    const value = JSON.parse(new TextDecoder().decode(SAMPLE_VCON)) as Record<string, unknown>;
    const sorted = Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((key) => [key, value[key]]),
    );
    return toHex(sha256(utf8(JSON.stringify(sorted))));
  }
});

describe('an attack on a transparent statement is refused by name:', () => {
  const attacks: [string, string, string, () => Promise<Uint8Array>][] = [
    [
      'the statement-log receipt of another statement',
      'statement_log_receipt',
      'receipt_signature_invalid',
      async () => {
        const other = await sampleStatement(sampleAttributes(utf8('another vCon')));
        return assembleTransparentStatement((await goodParts()).statement, {
          ...(await goodParts()),
          rfc9162Receipt: await statementLogReceipt(other),
        });
      },
    ],
    [
      'the MMR receipt of another event',
      'tenancy_log_receipt',
      'receipt_signature_invalid',
      async () => {
        const { mmrReceipt } = await logged(sampleAssetEvent({ ...attributes, vcon_operation: 'vcon_deleted' }));
        const { statement, ...transparency } = await goodParts();
        return assembleTransparentStatement(statement, { ...transparency, mmrReceipt });
      },
    ],
    [
      'another operation’s event with its own good receipt',
      'event',
      'event_mismatch',
      async () => {
        const other = sampleAssetEvent(sampleAttributes(utf8('another vCon')));
        const { statement, rfc9162Receipt } = await goodParts();
        return assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(other)) });
      },
    ],
    [
      'an event of the same payload about another vCon',
      'event',
      'event_mismatch',
      async () => {
        const other = sampleAssetEvent({ ...attributes, subject: 'vcon://other' });
        const { statement, rfc9162Receipt } = await goodParts();
        return assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(other)) });
      },
    ],
    [
      'an event that carries another registered statement',
      'event',
      'event_mismatch',
      async () => {
        const { statement, rfc9162Receipt } = await goodParts();
        const other = await sampleStatement(sampleAttributes(utf8('another vCon')));
        const event = sampleAssetEvent({ signed_statement: toBase64(other) });
        return assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(event)) });
      },
    ],
    [
      'an event attribute changed after commit',
      'tenancy_log_receipt',
      'receipt_signature_invalid',
      () => withEvent((event) => ({ event_attributes: { ...event.event_attributes, conserver_link_name: 'another' } })),
    ],
    [
      'a timestamp changed after commit',
      'tenancy_log_receipt',
      'receipt_signature_invalid',
      () => withEvent(() => ({ timestamp_accepted: '2025-01-16T16:12:38Z' })),
    ],
    [
      'an idtimestamp changed after commit',
      'tenancy_log_receipt',
      'receipt_signature_invalid',
      () => withEvent(() => ({ merklelog_entry: { commit: { index: '7', idtimestamp: '019470003611017901' } } })),
    ],
    [
      'an index that is not the receipt’s',
      'tenancy_log_inclusion',
      'inclusion_path_invalid',
      () => withEvent(() => ({ merklelog_entry: { commit: { index: '8', idtimestamp: '019470003611017900' } } })),
    ],
    [
      'an idtimestamp of another epoch, which no leaf covers',
      'tenancy_log_inclusion',
      'event_mismatch',
      () => withEvent(() => ({ merklelog_entry: { commit: { index: '7', idtimestamp: '029470003611017900' } } })),
    ],
    [
      'a number in an event attribute',
      'tenancy_log_inclusion',
      'event_mismatch',
      () => withEvent(() => ({ asset_attributes: { size: 7 } })),
    ],
    [
      'an event proven by the log of another tenancy',
      'tenancy_log_receipt',
      'log_mismatch',
      async () => {
        const { statement, rfc9162Receipt } = await goodParts();
        const elsewhere = { ...SAMPLE_TENANCY_LOG, subject: 'tenant/9f4b1d8a-0000-4000-8000-000000000000' };
        const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes), sealer, elsewhere);
        return assembleTransparentStatement(statement, { rfc9162Receipt, mmrReceipt, event });
      },
    ],
    [
      'a statement-log receipt by a stranger, who put his key inside',
      'statement_log_receipt',
      'log_key_not_trusted',
      async () => {
        const { statement, ...transparency } = await goodParts();
        const rfc9162Receipt = await statementLogReceipt(statement, stranger);
        return assembleTransparentStatement(statement, { ...transparency, rfc9162Receipt });
      },
    ],
    [
      'an MMR receipt by a stranger, who put his key inside',
      'tenancy_log_receipt',
      'log_key_not_trusted',
      async () => {
        const { statement, rfc9162Receipt } = await goodParts();
        const forged = await logged(sampleAssetEvent(attributes), stranger);
        return assembleTransparentStatement(statement, { rfc9162Receipt, ...forged });
      },
    ],
    [
      'an MMR receipt by a stranger under the log’s kid',
      'tenancy_log_receipt',
      'receipt_signature_invalid',
      async () => {
        const { statement, rfc9162Receipt } = await goodParts();
        const impostor = { ...stranger, kid: sealer.kid, publicKey: sealer.publicKey };
        const forged = await logged(sampleAssetEvent(attributes), impostor);
        return assembleTransparentStatement(statement, { rfc9162Receipt, ...forged });
      },
    ],
    [
      'a statement by a stranger',
      'statement_signature',
      'issuer_key_not_trusted',
      async () => {
        const statement = await sampleStatement(attributes, stranger);
        return assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
      },
    ],
    [
      'a statement signed with a key of the log',
      'statement_signature',
      'issuer_key_not_trusted',
      async () => {
        const statement = await sampleStatement(attributes, statementLog);
        return assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
      },
    ],
    ['no receipt at all', 'statement_log_inclusion', 'receipt_missing', () => goodBut((header) => header.delete(394))],
    [
      'the MMR receipt alone',
      'statement_log_inclusion',
      'receipt_missing',
      () => goodBut((header) => header.set(394, [(header.get(394) as Uint8Array[])[1]!])),
    ],
    [
      'a signed root without a proof',
      'statement_log_inclusion',
      'malformed',
      async () => {
        const { statement } = await goodParts();
        const rfc9162Receipt = await signRoot(sha256(statement), 1n, statementLog, SAMPLE_STATEMENT_LOG);
        return assembleTransparentStatement(statement, { rfc9162Receipt });
      },
    ],
  ];

  it.each(attacks)('%s', async (_, step, code, make) => {
    const report = await examineTransparentStatement(await make(), trust);
    expect(report.verified).toBe(false);
    expect(report.steps.find(({ outcome }) => outcome === 'refused')).toMatchObject({ step, code });
  });

  it('a receipt of another log under the same key, when the log is pinned', async () => {
    const pinned = { ...trust, statementLog: { subject: 'statements/public' } };
    expect((await outcomes(await good(), pinned)).statement_log_receipt).toBe('log_mismatch');
  });

  it.each<[string, string, (header: CborMap) => void]>([
    [
      'two receipts of one structure',
      'unsupported',
      (header) => header.set(394, Array(2).fill((header.get(394) as CborValue[])[0])),
    ],
    ['receipts that are no list', 'malformed', (header) => header.set(394, (header.get(394) as CborValue[])[0]!)],
    ['a receipt that is no byte string', 'malformed', (header) => header.set(394, ['receipt'])],
    ['a receipt that is garbage', 'malformed', (header) => header.set(394, [Uint8Array.of(1, 2, 3)])],
    ['a receipt of no structure', 'malformed', (header) => header.set(394, [wireOf(new Map([[1, -7]]))])],
    ['a receipt of an unknown structure', 'unsupported', (header) => header.set(394, [wireOf(new Map([[395, 99]]))])],
    ['an event that is bytes', 'malformed', (header) => header.set('event', utf8('{}'))],
    ['an event that is no JSON', 'malformed', (header) => header.set('event', '{')],
    ['an event of no known kind', 'malformed', (header) => header.set('event', '{"identity":"blobs/1"}')],
    ['an event without its fields', 'malformed', (header) => header.set('event', '{"identity":"assets/1/events/1"}')],
    [
      'an event nested 100,000 deep',
      'malformed',
      (header) => {
        const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
        header.set(
          'event',
          (header.get('event') as string).replace('"asset_attributes":{}', `"asset_attributes":${deep}`),
        );
      },
    ],
  ])('%s', async (_, code, change) => {
    await expect(examineTransparentStatement(await goodBut(change), trust)).rejects.toMatchObject({ code });
  });

  function wireOf(header: CborMap): Uint8Array {
    const protectedBytes = encodeCbor(header);
    return encodeSign1({ protectedBytes, unprotectedHeader: new Map(), payload: null, signature: new Uint8Array(64) });
  }

  it('any bit flipped, any end cut off: never verified in every step, and never an error without a code', async () => {
    const wire = await good();
    const flip = fc.tuple(fc.nat(wire.length - 1), fc.nat(7)).map(([at, bit]) => {
      const flipped = wire.slice();
      flipped[at]! ^= 1 << bit;
      return flipped;
    });
    const cut = fc.nat(wire.length - 1).map((length) => wire.slice(0, length));
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: flip }, cut), async (broken) => {
        const refused = (error: unknown) => {
          expect(error).toBeInstanceOf(VerificationError);
          return { malformed: 'malformed' };
        };
        expect(await outcomes(broken).catch(refused)).not.toEqual(ALL_VERIFIED);
      }),
      { numRuns: 300 },
    );
  });

  it('names issuer and subject in what is verified, so that a person sees whose word it is', async () => {
    const { steps } = await examineTransparentStatement(await good(), trust);
    expect(steps[1]!.detail).toContain(SAMPLE_ISSUER);
    expect(steps[1]!.detail).toContain(SAMPLE_SUBJECT);
    expect(steps[5]!.detail).toContain(SAMPLE_TENANCY_LOG.subject);
  });
});
