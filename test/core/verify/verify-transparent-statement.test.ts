import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBase64, toHex, utf8 } from '../../../src/core/bytes.js';
import type { CborMap, CborValue } from '../../../src/core/cose/cbor.js';
import { createSign1, decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { assetFreeRecordDigest } from '../../../src/core/event/asset-free-record.js';
import { signRoot } from '../../../src/core/receipt/rfc9162-receipt.js';
import { type Sha256, sha256 } from '../../../src/core/sha256.js';
import type { AssetEventDocument, EventDocument } from '../../../src/core/statement/event-document.js';
import { eventStatement } from '../../../src/core/statement/event-statement.js';
import { statementEntry } from '../../../src/core/statement/statement-entry.js';
import { assembleTransparentStatement } from '../../../src/core/statement/transparent-statement.js';
import { readTemplate } from '../../../src/core/statement/vcon-template.js';
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
  SAMPLE_TENANCY,
  SAMPLE_TENANCY_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAssetFreeEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
  statementLogReceipts,
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

const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';
const OTHER_LOG = { ...SAMPLE_TENANCY_LOG, subject: `tenant/${OTHER_TENANCY}` };

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

/** The outcome, what is claimed, what contradicts, and what is unproven: enough to tell one verdict from another. */
async function told(wire: Uint8Array, withTrust = trust) {
  const { outcome, claims, contradictions, notCovered } = await examineTransparentStatement(wire, withTrust);
  return {
    outcome,
    claims: claims.map(({ kind }) => kind),
    contradictions: contradictions.map(({ piece, code }) => `${piece} ${code}`),
    unproven: notCovered.flatMap(({ why, piece }) => (why === 'unproven' ? [piece] : [])),
  };
}

const ALL_VERIFIED = {
  outcome: 'verified',
  claims: ['statement', 'event', 'document'],
  contradictions: [],
  unproven: [],
};

describe('a transparent statement', () => {
  it.each([
    ['an asset event', sampleAssetEvent(attributes)],
    ['an asset-free event', sampleAssetFreeEvent(attributes)],
  ])('of %s verifies in every part', async (_, event) => {
    await verifyTransparentStatement(await good(event), trust);
    expect(await told(await good(event))).toEqual(ALL_VERIFIED);
  });

  it.each([
    ['an asset event', sampleAssetEvent(attributes)],
    ['an asset-free event', sampleAssetFreeEvent(attributes)],
  ])('of %s is hashed, leaves and trees, with the SHA-256 that is handed in', async (_, event) => {
    const wire = await good(event);
    expect(await told(wire, { ...trust, sha256: nodeSha256 })).toEqual(ALL_VERIFIED);
    const other: Sha256 = (...parts) => nodeSha256(...parts, utf8('another hash'));
    expect((await told(wire, { ...trust, sha256: other })).contradictions).toEqual([
      'statement_log_receipt receipt_signature_invalid',
      'tenancy_log_receipt receipt_signature_invalid',
    ]);
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
    expect(await told(await good(), pinned)).toEqual(ALL_VERIFIED);
  });

  it('with more than 16 receipts is incomplete, and the words say that this many are not checked', async () => {
    const receipts = (count: number) =>
      goodBut((header) => {
        const attached = header.get(394) as Uint8Array[];
        header.set(394, [...attached, ...Array.from({ length: count - attached.length }, () => attached[0]!)]);
      });
    expect((await told(await receipts(16))).outcome).toBe('verified');
    const { outcome, notCovered } = await examineTransparentStatement(await receipts(17), trust);
    expect([outcome, notCovered.map(({ detail }) => detail)]).toEqual([
      'incomplete',
      ['the statement has 17 receipts, and at most 16 are supported: nothing of it was checked'],
    ]);
  });

  it('without its event has an MMR receipt that proves nothing: it is named, and there is no fact of it', async () => {
    const wire = await goodBut((header) => header.delete('event'));
    expect(await told(wire)).toEqual({ ...ALL_VERIFIED, claims: ['statement', 'document'] });
    const { notCovered, missing } = await verifyTransparentStatement(wire, trust);
    expect(notCovered).toEqual([expect.objectContaining({ piece: 'tenancy_log_receipt', why: 'explanation' })]);
    expect(missing.map(({ what }) => what)).toContain('event');
  });

  it('without its MMR receipt has an event that is unproven: incomplete, and no fact of it', async () => {
    const wire = await goodBut((header) => header.set(394, [(header.get(394) as Uint8Array[])[0]!]));
    const expected = { claims: ['statement', 'document'], unproven: ['event'] };
    expect(await told(wire)).toEqual({ ...ALL_VERIFIED, outcome: 'incomplete', ...expected });
    await expect(verifyTransparentStatement(wire, trust)).rejects.toMatchObject({ code: 'insufficient_data' });
  });

  it.each<[string, (event: AssetEventDocument) => object]>([
    ['year', () => ({ timestamp_accepted: '2019-01-16T16:12:39Z' })],
    ['operation', () => ({ operation: 'Forged' })],
    ['principal', (event) => ({ principal_accepted: { ...event.principal_accepted, subject: 'mallory' } })],
  ])('without its MMR receipt and with another %s in its event shows none of them', async (_, change) => {
    const stripped = decodeSign1(await withEvent(change));
    const header: CborMap = new Map(stripped.unprotectedHeader);
    header.set(394, [(header.get(394) as Uint8Array[])[0]!]);
    const verdict = await examineTransparentStatement(encodeSign1({ ...stripped, unprotectedHeader: header }), trust);
    expect(verdict.outcome).toBe('incomplete');
    expect(JSON.stringify(verdict.claims)).not.toMatch(/2019-01|Forged|mallory|conserver/);
  });

  it('without the receipt of a statement log is incomplete: nothing shows that it was registered', async () => {
    for (const change of [
      (header: CborMap) => void header.delete(394),
      (header: CborMap) => void header.set(394, [(header.get(394) as Uint8Array[])[1]!]),
    ]) {
      const verdict = await examineTransparentStatement(await goodBut(change), trust);
      expect(verdict.outcome).toBe('incomplete');
      const unproven = verdict.notCovered.filter(({ why }) => why === 'unproven');
      expect(unproven).toContainEqual(expect.objectContaining({ piece: 'statement', members: ['registration'] }));
      expect(verdict.missing.map(({ what }) => what)).toContain('statement_log_receipt');
    }
  });

  it('without a document says that none was given, and claims none', async () => {
    const verdict = await examineTransparentStatement(await good(), { ...trust, document: undefined });
    expect(verdict.outcome).toBe('verified');
    expect(verdict.claims.map(({ kind }) => kind)).toEqual(['statement', 'event']);
    expect(verdict.missing.map(({ what }) => what)).toContain('document');
  });

  it('of a registered statement verifies when its event carries that statement', async () => {
    const statement = await sampleStatement(attributes);
    const registered = sampleAssetEvent({ signed_statement: toBase64(statement) });
    const rfc9162Receipt = await statementLogReceipt(statement);
    const wire = assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(registered)) });
    expect(await told(wire)).toEqual(ALL_VERIFIED);
  });

  it('says what else is proven after a refusal', async () => {
    expect(await told(await good(), { ...trust, document: utf8('{}') })).toEqual({
      outcome: 'refused',
      claims: ['statement', 'event'],
      contradictions: ['document payload_hash_mismatch'],
      unproven: [],
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
    const { claims } = await verifyTransparentStatement(await good(), { ...trust, document: indented });
    expect(claims.at(-1)).toMatchObject({
      kind: 'document',
      facts: { form: 'upstream' },
      by: [
        { of: 'statement', member: 'payload_hash' },
        { of: 'event', member: 'payload_hash' },
      ],
    });
  });

  it('in canonical form alone matches a signed JCS digest, and says so', async () => {
    const jcs = sampleAttributes(utf8('whatever the conserver had'), { payload_jcs_sha256: await jcsOf() });
    const statement = await sampleStatement(jcs);
    const wire = assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
    const { claims } = await verifyTransparentStatement(wire, { ...trust, document: indented });
    expect(claims.at(-1)).toMatchObject({
      facts: { form: 'jcs', payload_hash: await jcsOf() },
      by: [{ type: 'digest', member: 'payload_jcs_sha256' }],
    });
  });

  it.each([
    ['9007199254740991', '9007199254740991', 'verified'],
    ['9007199254740993', '9007199254740992', 'document payload_hash_mismatch'],
  ])(
    'with the number %s, canonically %s: %s, for documents may share a form that lost digits',
    async (given, canonical, outcome) => {
      const digest = toHex(sha256(utf8(`{"n":${canonical}}`)));
      const statement = await sampleStatement(sampleAttributes(utf8('another'), { payload_jcs_sha256: digest }));
      const wire = assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
      const { outcome: found, contradictions } = await told(wire, { ...trust, document: utf8(`{ "n": ${given} }`) });
      expect(contradictions[0] ?? found).toBe(outcome);
    },
  );

  it('does not match a JCS digest that only an event has, which the statement was not made from', async () => {
    const plain = sampleAttributes(utf8('whatever the conserver had'));
    const event = sampleAssetEvent({ ...plain, payload_jcs_sha256: await jcsOf() });
    const statement = await sampleStatement(plain);
    const rfc9162Receipt = await statementLogReceipt(statement);
    for (const attached of [{ event }, await logged(event)]) {
      const wire = assembleTransparentStatement(statement, { rfc9162Receipt, ...attached });
      const { contradictions } = await told(wire, { ...trust, document: indented });
      expect(contradictions).toEqual(['event event_mismatch', 'document payload_hash_mismatch']);
    }
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
      'the event of another operation on the same vCon, with its own good receipt',
      'event',
      'event_mismatch',
      () => withOther(sampleAssetEvent({ ...attributes, vcon_operation: 'vcon_deleted' })),
    ],
    [
      'the asset-free event of another operation on the same vCon, with its own good receipt',
      'event',
      'event_mismatch',
      () => withOther(sampleAssetFreeEvent({ ...attributes, vcon_operation: 'vcon_deleted' })),
    ],
    [
      'another tenancy’s event of the same content, with that tenancy’s good receipt',
      'event',
      'event_mismatch',
      () => withOther({ ...sampleAssetEvent(attributes), tenant_identity: `tenant/${OTHER_TENANCY}` }, OTHER_LOG),
    ],
    [
      'another tenancy’s asset-free event of the same content, with that tenancy’s good receipt',
      'event',
      'event_mismatch',
      () => withOther({ ...sampleAssetFreeEvent(attributes), origin_tenant: `tenant/${OTHER_TENANCY}` }, OTHER_LOG),
    ],
    [
      'a private event that is called public, in its own log',
      'tenancy_log_receipt',
      'log_mismatch',
      () => withEvent(({ identity }) => ({ identity: `public${identity}` })),
    ],
    [
      'a public event that is called private, in the public log',
      'tenancy_log_receipt',
      'log_mismatch',
      () => withOther(sampleAssetEvent(attributes), OTHER_LOG),
    ],
    [
      'a null in an event attribute, which no leaf would show',
      'tenancy_log_receipt',
      'event_mismatch',
      () => withEvent((event) => ({ event_attributes: { ...event.event_attributes, forged: null } })),
    ],
    [
      'a null deep in an asset attribute',
      'tenancy_log_receipt',
      'event_mismatch',
      () => withEvent(() => ({ asset_attributes: { list: [null] } })),
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
      'tenancy_log_receipt',
      'inclusion_path_invalid',
      () => withEvent(() => ({ merklelog_entry: { commit: { index: '8', idtimestamp: '019470003611017900' } } })),
    ],
    [
      'an idtimestamp of another epoch, which no leaf covers',
      'tenancy_log_receipt',
      'event_mismatch',
      () => withEvent(() => ({ merklelog_entry: { commit: { index: '7', idtimestamp: '029470003611017900' } } })),
    ],
    [
      'a number in an event attribute',
      'tenancy_log_receipt',
      'event_mismatch',
      () => withEvent(() => ({ asset_attributes: { size: 7 } })),
    ],
    [
      'a number in an attribute of an asset-free event, with a good receipt over what a double holds of it',
      'tenancy_log_receipt',
      'event_mismatch',
      () => withOther(sampleAssetFreeEvent({ ...attributes, amount: 2 ** 53 } as never)),
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
      'statement',
      'issuer_key_not_trusted',
      async () => {
        const statement = await sampleStatement(attributes, stranger);
        return assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
      },
    ],
    [
      'a statement signed with a key of the log',
      'statement',
      'issuer_key_not_trusted',
      async () => {
        const statement = await sampleStatement(attributes, statementLog);
        return assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
      },
    ],
    [
      'a signed root without a proof',
      'statement_log_receipt',
      'malformed',
      async () => {
        const { statement } = await goodParts();
        const rfc9162Receipt = await signRoot(sha256(statement), 1n, statementLog, SAMPLE_STATEMENT_LOG);
        return assembleTransparentStatement(statement, { rfc9162Receipt });
      },
    ],
  ];

  async function withOther(event: EventDocument, log = SAMPLE_TENANCY_LOG): Promise<Uint8Array> {
    const { statement, rfc9162Receipt } = await goodParts();
    return assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(event, sealer, log)) });
  }

  it.each(attacks)('%s', async (_, piece, code, make) => {
    const { outcome, contradictions } = await told(await make());
    expect([outcome, contradictions]).toEqual(['refused', expect.arrayContaining([`${piece} ${code}`])]);
  });

  it.each<[string, number, CborValue, string]>([
    ['a hash algorithm (258)', 258, -16, 'malformed'],
    ['a content type (259)', 259, 'application/json', 'malformed'],
    ['critical headers (2)', 2, [258], 'critical_header_unknown'],
  ])('%s beside its receipts, as beside a statement', async (_, label, value, code) => {
    const { outcome, contradictions } = await told(await goodBut((header) => header.set(label, value)));
    expect([outcome, contradictions[0]]).toEqual(['refused', `statement ${code}`]);
  });

  it('a statement of an issuer that is not among the pinned ones', async () => {
    const another = 'https://another.example';
    for (const issuer of [another, [another], `${SAMPLE_ISSUER}/`, SAMPLE_ISSUER.slice(0, -1)]) {
      const { outcome, contradictions } = await told(await good(), { ...trust, issuer });
      expect([issuer, outcome, contradictions]).toEqual([issuer, 'refused', ['statement issuer_key_not_trusted']]);
    }
    expect(await told(await good(), { ...trust, issuer: [another, SAMPLE_ISSUER] })).toEqual(ALL_VERIFIED);
  });

  it('a receipt of another log under the same key, when the log is pinned', async () => {
    const pinned = { ...trust, statementLog: { subject: 'statements/public' } };
    expect((await told(await good(), pinned)).contradictions).toEqual(['statement_log_receipt log_mismatch']);
  });

  it.each<[string, (header: CborMap) => void]>([
    ['receipts that are no list', (header) => header.set(394, (header.get(394) as CborValue[])[0]!)],
    ['an event that is bytes', (header) => header.set('event', utf8('{}'))],
    ['an event that is no JSON', (header) => header.set('event', '{')],
    ['an event of no known kind', (header) => header.set('event', '{"identity":"blobs/1"}')],
    ['an event without its fields', (header) => header.set('event', '{"identity":"assets/1/events/1"}')],
    [
      'an event with a capital in its time',
      (header) => header.set('event', (header.get('event') as string).replace(/("idtimestamp":"\w+)\w"/, '$1A"')),
    ],
    [
      'an event nested 100,000 deep',
      (header) => {
        const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
        header.set(
          'event',
          (header.get('event') as string).replace('"asset_attributes":{}', `"asset_attributes":${deep}`),
        );
      },
    ],
  ])('%s', async (_, change) => {
    const { outcome, claims, contradictions } = await told(await goodBut(change));
    expect([outcome, contradictions, claims]).toEqual(['refused', ['statement malformed'], []]);
  });

  it('two receipts that verify and show two histories of one log', async () => {
    const statement = await sampleStatement(attributes);
    const other = await sampleStatement(sampleAttributes(utf8('another vCon')));
    const [, forked] = await statementLogReceipts([other, statement]);
    const rfc9162Receipt = await statementLogReceipt(statement);
    const sign1 = decodeSign1(assembleTransparentStatement(statement, { rfc9162Receipt }));
    for (const receipts of [
      [rfc9162Receipt, forked!],
      [forked!, rfc9162Receipt],
    ]) {
      const wire = encodeSign1({ ...sign1, unprotectedHeader: new Map([[394, receipts]]) });
      expect((await told(wire)).contradictions).toEqual(['statement consistency_invalid']);
      await expect(verifyTransparentStatement(wire, trust)).rejects.toMatchObject({ code: 'consistency_invalid' });
    }
  });

  it('any bit flipped, any end cut off: never verified but without its event, where its label is gone, and never an error', async () => {
    const wire = await good();
    // The label of the event and the head of its text.
    const label = Buffer.from([0x65, ...Buffer.from('event'), 0x79]);
    const at = Buffer.from(wire).indexOf(label);
    for (const bit of [0, 1, 2, 3, 4, 5, 6]) {
      const renamed = wire.slice();
      renamed[at + 1]! ^= 1 << bit;
      expect(await told(renamed)).toMatchObject({ outcome: 'verified', claims: ['statement', 'document'] });
    }
    const flip = fc.tuple(fc.nat(wire.length - 1), fc.nat(7)).map(([at, bit]) => {
      const flipped = wire.slice();
      flipped[at]! ^= 1 << bit;
      return flipped;
    });
    const cut = fc.nat(wire.length - 1).map((length) => wire.slice(0, length));
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: flip }, cut), async (broken) => {
        const { outcome, claims } = await told(broken);
        if (!Buffer.from(broken).includes(label)) expect(claims).not.toContain('event');
        else expect(outcome).not.toBe('verified');
      }),
      { numRuns: 300 },
    );
  });
});

describe('a statement and an event', () => {
  /** Every attribute that a statement is made from. */
  const full = sampleAttributes(SAMPLE_VCON, {
    conserver_link: 'tracer',
    conserver_link_name: 'tracers.vcon_archivist',
    conserver_link_version: '1.0.0',
    vcon_draft_version: '0.3.0',
    scitt_draft_version: '10',
    payload_jcs_sha256: 'aa'.repeat(32),
    payload_location: 'https://vcons.example/1',
  });
  async function joined(ofStatement: Record<string, string>, ofEvent: Record<string, string>): Promise<Uint8Array> {
    const statement = await sampleStatement(ofStatement);
    const rfc9162Receipt = await statementLogReceipt(statement);
    return assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(sampleAssetEvent(ofEvent))) });
  }
  const without = (name: string) => Object.fromEntries(Object.entries(full).filter(([each]) => each !== name));
  const mustDiffer = { outcome: 'refused', contradictions: ['event event_mismatch'] };

  it('agree when they have every attribute of the template, and when the event has others beside them', async () => {
    expect((await told(await joined(full, full))).outcome).toBe('verified');
    expect((await told(await joined(full, { ...full, conserver_chain: 'main' }))).outcome).toBe('verified');
  });

  it.each(Object.keys(full))('are refused when %s differs, or only one of them has it', async (name) => {
    const other = { payload: 'bb'.repeat(32), payload_hash_alg: 'SHA-512' }[name] ?? 'another';
    expect(await told(await joined(full, { ...full, [name]: other }))).toMatchObject(mustDiffer);
    expect(await told(await joined(full, without(name)))).toMatchObject(mustDiffer);
    if (!['payload', 'payload_hash_alg', 'subject'].includes(name))
      expect(await told(await joined(without(name), full))).toMatchObject(mustDiffer);
  });

  it('are refused when the statement’s issuer is not the event’s tenancy, also where that issuer is pinned', async () => {
    for (const issuer of [
      SAMPLE_ISSUER.replace(SAMPLE_TENANCY, OTHER_TENANCY),
      'did:web:archive.example',
      'https://archive.example',
    ]) {
      const statement = await sampleStatement(attributes, undefined, issuer);
      const rfc9162Receipt = await statementLogReceipt(statement);
      const wire = assembleTransparentStatement(statement, {
        rfc9162Receipt,
        ...(await logged(sampleAssetEvent(attributes))),
      });
      for (const pinned of [trust, { ...trust, issuer }]) expect(await told(wire, pinned)).toMatchObject(mustDiffer);
    }
  });

  it('are refused when the statement is about a record but its payload is no digest, unless the event carries it', async () => {
    const free = { ...sampleAssetFreeEvent(attributes), created_at: '1737043959000' };
    for (const length of [0, 31, 33]) {
      const record = { identity: free.identity, digest: new Uint8Array(length) };
      const { header, payload } = eventStatement({ record }, { ...issuer, issuer: SAMPLE_ISSUER });
      const statement = encodeSign1(await createSign1(header, payload, issuer));
      const rfc9162Receipt = await statementLogReceipt(statement);
      const beside = async (event: EventDocument) =>
        told(assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(event)) }), {
          ...trust,
          document: undefined,
        });
      expect(await beside(sampleAssetEvent(attributes))).toMatchObject(mustDiffer);
      expect(await beside(free)).toMatchObject(mustDiffer);
      const registered = sampleAssetEvent({ signed_statement: toBase64(statement) });
      expect((await beside(registered)).outcome).toBe('verified');
    }
  });

  it('of another service’s issuer agree when the event was made from that registered statement', async () => {
    for (const [issuer, outcome] of [
      ['https://issuer.example', 'verified'],
      [`did:web:elsewhere.example:archivist:v1:didweb:${OTHER_TENANCY}`, 'verified'],
      // A tenancy of the same service cannot have its statements registered by another one.
      [`did:web:archive.example:archivist:v1:didweb:${OTHER_TENANCY}`, 'refused'],
    ] as const) {
      const statement = await sampleStatement(attributes, undefined, issuer);
      const rfc9162Receipt = await statementLogReceipt(statement);
      const event = sampleAssetEvent({ signed_statement: toBase64(statement), subject: SAMPLE_SUBJECT, issuer });
      const wire = assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(event)) });
      expect([issuer, (await told(wire)).outcome]).toEqual([issuer, outcome]);
    }
  });

  it('are refused when an event says of its registered statement what that does not say', async () => {
    const statement = await sampleStatement(attributes);
    const rfc9162Receipt = await statementLogReceipt(statement);
    for (const lie of [
      { vcon_operation: 'vcon_deleted' },
      { conserver_link_name: 'unsaid' },
      { issuer: 'https://another.example' },
      { subject: 'vcon://another' },
      { payload: 'bb'.repeat(32), payload_hash_alg: 'SHA-256' },
      { payload_hash_alg: 'SHA-384' },
      { payload_location: 'https://elsewhere.example' },
    ]) {
      const event = sampleAssetEvent({ signed_statement: toBase64(statement), ...lie });
      const wire = assembleTransparentStatement(statement, { rfc9162Receipt, ...(await logged(event)) });
      expect([lie, await told(wire)]).toMatchObject([lie, mustDiffer]);
    }
  });
});

describe('the facts of a transparent statement', () => {
  it('are the issuer’s words, by its key and by the place in the log that signed its size', async () => {
    const { claims } = await verifyTransparentStatement(await good(), trust);
    expect(claims[0]).toMatchObject({
      kind: 'statement',
      facts: {
        issuer: SAMPLE_ISSUER,
        tenancy: SAMPLE_TENANCY,
        operation: 'vcon_created',
        subject: SAMPLE_SUBJECT,
        vcon: SAMPLE_SUBJECT.slice(7),
        payload_hash: toHex(sha256(SAMPLE_VCON)),
        payload_hash_alg: 'SHA-256',
        payload_content_type: 'application/vcon',
        declared: '2025-01-16T16:12:38Z',
      },
      by: [
        { type: 'signature', issuer: SAMPLE_ISSUER, issuer_pinned: false, key: { thumbprint: toHex(issuer.kid) } },
        {
          type: 'inclusion',
          vds: 1,
          signed: 'root',
          log: SAMPLE_STATEMENT_LOG,
          leaf_index: '4',
          tree_size: '7',
          key: { thumbprint: toHex(statementLog.kid) },
        },
      ],
    });
  });

  it('of an asset event are all that its leaf covers, under the place that the path proves', async () => {
    const { claims, notCovered } = await verifyTransparentStatement(await good(), trust);
    const { facts, by } = claims[1]!;
    expect(facts).toMatchObject({
      event_kind: 'asset',
      uuid: '0192e8f5-2222-7000-8000-000000000001',
      tenancy: SAMPLE_TENANCY,
      operation: 'vcon_created',
      vcon: SAMPLE_SUBJECT.slice(7),
      principal: { subject: 'conserver' },
      accepted: '2025-01-16T16:12:39Z',
      committed: expect.stringMatching(/^20\d\d-.*Z$/),
      members: { operation: 'Record', behaviour: 'RecordEvidence' },
    });
    expect(by).toMatchObject([
      {
        vds: 3,
        signed: 'peak',
        log: SAMPLE_TENANCY_LOG,
        leaf_index: '4',
        mmr_index: '7',
        key: { thumbprint: toHex(sealer.kid) },
      },
    ]);
    expect(by[0]).not.toHaveProperty('tree_size');
    expect(notCovered).toEqual([]);
  });

  it('of an asset-free event leave out what its leaf does not cover, and that is named', async () => {
    const { claims, notCovered } = await verifyTransparentStatement(
      await good(sampleAssetFreeEvent(attributes)),
      trust,
    );
    expect(claims[1]).toMatchObject({ facts: { event_kind: 'asset_free', tenancy: SAMPLE_TENANCY } });
    expect(Object.keys(claims[1]!.facts)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/identity|uuid|event_type|created_by|accepted|principal/)]),
    );
    expect(notCovered).toEqual([
      expect.objectContaining({
        piece: 'event',
        why: 'by_design',
        members: ['identity', 'event_type', 'created_by', 'created_at'],
      }),
    ]);
  });

  it('of an asset-free event are its whole record when the statement states that', async () => {
    const free = { ...sampleAssetFreeEvent(attributes), created_at: '1737043959000' };
    const digest = assetFreeRecordDigest({ ...free, event_type: free.event_type! });
    const record = { identity: free.identity, digest };
    const template = readTemplate(attributes)!;
    for (const content of [{ template, record }, { record }]) {
      const { header, payload } = eventStatement(content, { ...issuer, issuer: SAMPLE_ISSUER });
      const statement = encodeSign1(await createSign1(header, payload, issuer));
      const rfc9162Receipt = await statementLogReceipt(statement);
      const proof = await logged(free);
      const wire = assembleTransparentStatement(statement, { rfc9162Receipt, ...proof });
      const { outcome, claims, notCovered } = await examineTransparentStatement(wire, trust);
      expect([outcome, notCovered]).toEqual(['verified', [expect.objectContaining({ members: ['merklelog_commit'] })]]);
      expect(claims[1]).toMatchObject({
        facts: {
          identity: free.identity,
          event_type: free.event_type,
          created_by: free.created_by,
          accepted: '2025-01-16T16:12:39.000Z',
        },
        by: [{ type: 'signature' }, { vds: 1 }],
      });
      // Nothing covers both identity and place, so no claim has both.
      expect([claims[1]!.facts.committed, claims[2]!.by]).toEqual([undefined, [expect.objectContaining({ vds: 3 })]]);
      expect(Object.keys(claims[2]!.facts)).not.toContain('identity');
      for (const change of ['identity', 'event_type', 'created_by', 'created_at'] as const) {
        const event = { ...proof.event, [change]: change === 'identity' ? 'events/another' : 'another' };
        const forged = assembleTransparentStatement(statement, { rfc9162Receipt, ...proof, event });
        const { contradictions } = await told(forged);
        expect([change, contradictions]).toEqual([change, expect.arrayContaining(['event event_mismatch'])]);
      }
      // A signature by nobody whose key is known covers nothing.
      const untrusted = await examineTransparentStatement(wire, { ...trust, issuerKeys: [stranger.publicKey] });
      expect(untrusted.claims.flatMap(({ facts }) => facts.created_by ?? [])).toEqual([]);
    }
  });

  it('never include a member that no log covers: such are named, wherever they stand', async () => {
    const wire = await withEvent((event) => ({
      confirmation_status: 'UNEQUIVOCAL',
      from: '0xmallory',
      block_number: 7,
      forged: null,
      merklelog_entry: { ...event.merklelog_entry, confirm: { mmr_size: '99' } },
    }));
    const verdict = await verifyTransparentStatement(wire, trust);
    expect(JSON.stringify(verdict.claims)).not.toMatch(/UNEQUIVOCAL|mallory|"99"/);
    expect(verdict.notCovered[0]!.members.toSorted()).toEqual([
      'block_number',
      'confirmation_status',
      'forged',
      'from',
      'merklelog_entry.confirm',
    ]);
  });

  it('never include an unprotected header: it is named', async () => {
    const verdict = await verifyTransparentStatement(await goodBut((header) => header.set('note', 'true')), trust);
    expect(verdict.notCovered).toContainEqual(expect.objectContaining({ members: ['header note'], why: 'by_design' }));
  });

  it('say which issuer speaks, and that none was pinned, unless one was', async () => {
    const open = await verifyTransparentStatement(await good(), trust);
    expect(open.missing).toContainEqual({ what: 'issuer', detail: expect.stringContaining(SAMPLE_ISSUER) });
    const pinned = await verifyTransparentStatement(await good(), { ...trust, issuer: SAMPLE_ISSUER });
    expect(pinned.missing.map(({ what }) => what)).not.toContain('issuer');
    expect(pinned.claims[0]!.by[0]).toMatchObject({ issuer_pinned: true });
  });
});
