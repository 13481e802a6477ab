import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { inspectVcon, type VconInspection } from '../../../src/core/vcon/vcon-form.js';

const SAMPLES = new URL('../../../../shared/vectors/vcons/', import.meta.url);

function inspect(bytes: Uint8Array): Omit<VconInspection, 'document' | 'content'> {
  const { document: _, content: __, ...rest } = inspectVcon(bytes);
  return rest;
}
const own = (name: string) => new Uint8Array(readFileSync(new URL(`../../../fixtures/vcon/${name}`, import.meta.url)));
const json = (value: unknown) => utf8(JSON.stringify(value));
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const UUID = '019A9F20-4D10-8C3A-A1F4-5B6C7D8E9F01';
const PLAIN = { uuid: UUID, parties: [], dialog: [], analysis: [], attachments: [], created_at: 'then' };
const sign = (payload: Uint8Array, uuid?: string) => ({
  payload: base64url(payload),
  signatures: [{ protected: '', signature: '', header: uuid ? { uuid } : {} }],
});

describe('the form of a vCon', () => {
  it('is read of our samples', () => {
    expect(inspect(own('call.vcon.json'))).toEqual({
      form: 'unsigned',
      uuid: '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01',
      updatedAt: '2026-11-18T09:20:02.551000+00:00',
      createdAt: '2026-11-18T09:12:44.183000+00:00',
      vconMember: '0.4.0',
    });
    expect(inspect(own('text-thread.vcon.json'))).toMatchObject({
      form: 'unsigned',
      createdAt: '2026-11-19T14:02:10Z',
    });
    const signed = own('signed-call.vcon.json');
    const payload = Buffer.from(JSON.parse(Buffer.from(signed).toString()).payload, 'base64url');
    expect(inspect(signed)).toEqual({
      form: 'signed',
      uuid: '019a9f40-02aa-8f11-b6d3-9e8d7c6b5a40',
      createdAt: '2026-11-19T16:45:30.000+00:00',
      innermostPayloadHash: sha256(payload),
    });
  });

  it('keeps the innermost payload digest when a signed vCon is signed again', () => {
    const once = sign(json(PLAIN), UUID);
    const twice = sign(json(once));
    const thrice = sign(json(twice), UUID);
    for (const jws of [once, twice, thrice]) {
      expect(inspect(json(jws))).toEqual({
        form: 'signed',
        uuid: UUID.toLowerCase(),
        createdAt: 'then',
        innermostPayloadHash: sha256(json(PLAIN)),
      });
    }
  });

  it('hashes a payload that it cannot read, and says when two uuids disagree', () => {
    const zipped = Uint8Array.of(0x1f, 0x8b, 8, 0);
    expect(inspect(json(sign(zipped, UUID)))).toMatchObject({ form: 'signed', innermostPayloadHash: sha256(zipped) });
    const other = '019a9f20-4d10-8c3a-a1f4-000000000000';
    expect(inspect(json(sign(json(PLAIN), other)))).toMatchObject({
      uuid: other,
      problem: 'signature header and payload have different uuids',
    });
  });

  it('takes the uuid of an encrypted vCon from its unprotected header', () => {
    const jwe = { protected: '', ciphertext: 'AA', recipients: [], unprotected: { uuid: UUID } };
    expect(inspect(json(jwe))).toEqual({ form: 'encrypted', uuid: UUID.toLowerCase() });
    expect(inspect(json({ ...jwe, unprotected: {} })).problem).toBe('the unprotected header has no uuid');
  });

  it('is malformed, with a reason that quotes nothing, for everything else', () => {
    const problems = [
      utf8(''),
      utf8('secret'),
      Uint8Array.of(0xff),
      json(['secret']),
      json({ ...PLAIN, uuid: 'secret' }),
      json({ ...PLAIN, dialog: null }),
      json({ ...PLAIN, analysis: 'secret' }),
      json({ payload: 'not base64!', signatures: [] }),
    ].map((bytes) => inspect(bytes));
    expect(problems.map(({ form }) => form)).toEqual(problems.map(() => 'malformed'));
    expect(problems.every(({ problem }) => problem && !problem.includes('secret'))).toBe(true);
    expect(problems[5]!.uuid).toBe(UUID.toLowerCase());
  });
});

describe.skipIf(!existsSync(SAMPLES))('the published samples', () => {
  it.each([
    ['synthetic-call-1ba06c0c', 'unsigned', '1ba06c0c-97ea-439f-8691-717ef86e4f3e'],
    ['ietf-ab_call_ext_rec', 'unsigned', '019f15a6-a752-826f-b9a2-279e0d16bc46'],
    ['ietf-ab_call_ext_rec_signed', 'signed', '019f15a6-a752-826f-b9a2-279e0d16bc46'],
    ['ietf-ab_call_ext_rec_encrypted', 'encrypted', '019f15a6-a752-826f-b9a2-279e0d16bc46'],
    ['ietf-simple_vcon', 'malformed', undefined],
    ['invalid-missing_uuid_and_vcon_version', 'malformed', undefined],
  ])('%s is %s', (name, form, uuid) => {
    const inspection = inspectVcon(new Uint8Array(readFileSync(new URL(`${name}.json`, SAMPLES))));
    expect([inspection.form, inspection.uuid]).toEqual([form, uuid]);
  });
});
