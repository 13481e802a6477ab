import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/core/bytes.js';
import { HashAlgorithm } from '../../../src/core/cose/algorithms.js';
import { type CborMap, decodeCbor, encodeCbor } from '../../../src/core/cose/cbor.js';
import { META_ATTRIBUTES, readTemplate } from '../../../src/core/statement/vcon-template.js';

const attributes = {
  arc_display_type: 'vcon_created',
  conserver_link: 'provenance',
  conserver_link_name: 'record-created',
  conserver_link_version: '0.3.0',
  payload: 'ab'.repeat(32),
  payload_hash_alg: 'SHA-256',
  payload_preimage_content_type: 'application/vcon',
  subject: 'vcon://0192e8f5-0000-7000-8000-000000000001',
  timestamp_declared: '2025-01-16T16:12:38Z',
  vcon_operation: 'vcon_created',
  vcon_draft_version: '01',
  scitt_draft_version: '10',
};

describe('the vCon template', () => {
  it('is read from the attributes of an event', () => {
    const template = readTemplate(attributes)!;
    expect(toHex(template.payload)).toBe(attributes.payload);
    expect(template).toMatchObject({
      payloadHashAlg: HashAlgorithm.sha256,
      subject: attributes.subject,
      preimageContentType: 'application/vcon',
    });
    expect(template).not.toHaveProperty('payloadLocation');
  });

  it('takes every template attribute into the meta-map that has no label of its own, and no other attribute', () => {
    const meta = readTemplate({
      ...attributes,
      customer_phone: '+1',
      nested: {},
      vcon_draft_version: { no: 'text' },
    })!.meta;
    expect([...meta.keys()].sort()).toEqual([
      'arc_display_type',
      'conserver_link',
      'conserver_link_name',
      'conserver_link_version',
      'scitt_draft_version',
      'timestamp_declared',
      'vcon_operation',
    ]);
  });

  it('has the meta-map in the order in which CBOR writes it', () => {
    const { meta } = readTemplate({ ...attributes, payload_jcs_sha256: 'cd'.repeat(32) })!;
    expect(meta.size).toBe(META_ATTRIBUTES.length);
    expect([...meta.keys()]).toEqual([...(decodeCbor(encodeCbor(new Map(meta))) as CborMap).keys()]);
  });

  it('keeps the JCS digest beside the payload', () => {
    const digest = 'cd'.repeat(32);
    expect(readTemplate({ ...attributes, payload_jcs_sha256: digest })!.meta.get('payload_jcs_sha256')).toBe(digest);
  });

  it.each([
    ['SHA-384', 48, HashAlgorithm.sha384],
    ['SHA-512', 64, HashAlgorithm.sha512],
    ['sha256', 32, HashAlgorithm.sha256],
  ])('knows %s and the length of its digest', (name, length, alg) => {
    const other = { ...attributes, payload_hash_alg: name, payload: '0F'.repeat(length) };
    expect(readTemplate(other)).toMatchObject({ payloadHashAlg: alg });
    expect(readTemplate({ ...other, payload: '0F'.repeat(length - 1) })).toBeUndefined();
  });

  it('needs no attribute but payload, algorithm and subject', () => {
    const { payload, payload_hash_alg, subject } = attributes;
    expect(readTemplate({ payload, payload_hash_alg, subject })).toMatchObject({ meta: new Map() });
  });

  it.each<[string, Record<string, unknown>]>([
    ['no payload', { payload: undefined }],
    ['a payload that is not hex', { payload: 'xy'.repeat(32) }],
    ['a payload of another length', { payload: 'ab'.repeat(31) }],
    ['an unknown hash algorithm', { payload_hash_alg: 'MD5' }],
    ['a hash algorithm named like a method', { payload_hash_alg: 'constructor' }],
    ['no hash algorithm', { payload_hash_alg: undefined }],
    ['a subject that is no vCon', { subject: 'tel:+1' }],
    ['a subject that is no text', { subject: ['vcon://x'] }],
  ])('is not seen in attributes with %s', (_, change) => {
    expect(readTemplate({ ...attributes, ...change })).toBeUndefined();
  });
});
