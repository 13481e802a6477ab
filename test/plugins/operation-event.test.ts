import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeliverLater, retryAfter } from '../../plugins/archivist-client/delivery-failure.js';
import { retryDelay } from '../../plugins/archivist-client/retry-delay.js';
import { OperationError, readOperation } from '../../plugins/operation/operation.js';
import { operationEvent } from '../../plugins/operation/operation-event.js';
import { operationJobId } from '../../plugins/operation/operation-job.js';
import { recordedLabel } from '../../plugins/operation/recorded-labels.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { archivistBase, checkPluginSettings } from '../../plugins/settings/plugin-settings.js';
import { readStreamEntry } from '../../plugins/stream/stream-record.js';
import { readTemplate } from '../../src/core/statement/vcon-template.js';
import { vconHashes } from '../../src/core/vcon/vcon-hash.js';

const OBSERVED = { atMs: Date.parse('2026-11-21T08:00:00.250Z'), sequence: '01763712000250-00000000' };
const CREATED = readOperation('/operations/vcon_created?chain=main&link=evidence_created&type=webhook');
const file = (name: string) => readFileSync(new URL(`../../fixtures/vcon/${name}.vcon.json`, import.meta.url));
const eventOf = async (body: string | Buffer) =>
  operationEvent(CREATED, await vconFacts(Buffer.from(body as string)), { method: 'receiver', observed: OBSERVED });
const attributesOf = async (body: string | Buffer) => (await eventOf(body)).attributes as Record<string, string>;
const UUID = '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01';
const vcon = (members: object) => attributesOf(JSON.stringify({ uuid: UUID, ...members }));

describe('the event of an operation', () => {
  it('declares no time that a wrong clock showed: that of the vCon, or none', async () => {
    const observed = { ...OBSERVED, clockWrong: true } as const;
    for (const [members, declared] of [
      [{ created_at: '2026-11-18T09:20:02Z' }, '2026-11-18T09:20:02Z'],
      [{}, undefined],
    ] as const) {
      const facts = await vconFacts(
        Buffer.from(JSON.stringify({ uuid: '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01', ...members })),
      );
      const { timestampDeclared, attributes } = operationEvent(CREATED, facts, { method: 'receiver', observed });
      expect([timestampDeclared, attributes['timestamp_declared']]).toEqual([declared, declared]);
      const names = Object.keys(attributes).filter((name) => name.startsWith('timestamp_'));
      expect(names).toEqual(declared ? ['timestamp_declared', 'timestamp_declared_source'] : []);
    }
  });

  it('has every attribute of the template, and those that tell more', async () => {
    const call = file('call');
    const { hash: payload } = vconHashes(call).raw;
    expect(await eventOf(call)).toEqual({
      subject: 'vcon://019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01',
      payload,
      timestampDeclared: '2026-11-18T09:20:02.551000+00:00',
      attributes: {
        arc_display_type: 'vcon_created',
        conserver_link: 'webhook',
        conserver_link_name: 'evidence_created',
        conserver_link_version: '0.3.0',
        conserver_chain: 'main',
        payload,
        payload_hash_alg: 'SHA-256',
        payload_preimage_content_type: 'application/vcon+json',
        subject: 'vcon://019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01',
        timestamp_declared: '2026-11-18T09:20:02.551000+00:00',
        timestamp_declared_source: 'updated_at',
        timestamp_observed: '2026-11-21T08:00:00.250Z',
        vcon_operation: 'vcon_created',
        vcon_draft_version: 'core-02',
        scitt_draft_version: '22',
        vcon_form: 'unsigned',
        vcon_version: '0.4.0',
        payload_jcs_sha256: vconHashes(call).jcs.hash,
        vcon_history: 'vcon://019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01',
        capture_method: 'receiver',
        capture_sequence: '01763712000250-00000000',
      },
    });
    expect(readTemplate(await attributesOf(call))).toBeDefined();
  });

  it('carries the innermost payload’s digest of a signed vCon', async () => {
    const signed = file('signed-call');
    const payload = Buffer.from(JSON.parse(signed.toString()).payload, 'base64url');
    expect(await attributesOf(signed)).toMatchObject({
      vcon_form: 'signed',
      payload: createHash('sha256').update(signed).digest('hex'),
      payload_innermost_sha256: createHash('sha256').update(payload).digest('hex'),
    });
    expect(await attributesOf(signed)).not.toHaveProperty('payload_jcs_sha256');
  });

  it('invents no identity: bytes without a uuid are named by their hash, and marked', async () => {
    // RFC 6920 section 8.1
    const attributes = await attributesOf('Hello World!');
    expect(attributes).toMatchObject({ vcon_form: 'malformed', vcon_subject_source: 'payload_hash' });
    expect(attributes['subject']).toBe('ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk');
    for (const name of ['vcon_history', 'vcon_version']) expect(attributes).not.toHaveProperty(name);
    for (const body of ['{}', '[]', '{"uuid": "x"}', '{"ciphertext": "AA", "recipients": []}'])
      expect((await attributesOf(body))['subject']).toMatch(/^ni:\/\/\/sha-256;/);
  });

  it('names the draft that the document belongs to, as far as it can be told', async () => {
    const draft = async (members: object) => (await vcon(members))['vcon_draft_version'];
    expect([await draft({}), await draft({ vcon: '0.4.0' })]).toEqual(['core-02', 'core-02']);
    expect([await draft({ vcon: '0.0.1' }), await draft({ parties: 'no list' })]).toEqual(['unknown', 'unknown']);
    expect(await vcon({ vcon: '0.0.1' })).toMatchObject({ vcon_version: '0.0.1' });
  });

  it('marks an operation whose name is in no vocabulary', async () => {
    const facts = await vconFacts(file('call'));
    const marked = (name: string) =>
      operationEvent(readOperation(`/operations/${name}`), facts, { method: 'receiver', observed: OBSERVED })
        .attributes['vcon_operation_vocabulary'];
    expect(['scored', 'vcon_x'].map(marked)).toEqual(['unlisted', 'unlisted']);
    expect(['vcon_created', 'transcribed', 'rcvr-purged'].map(marked)).toEqual([undefined, undefined, undefined]);
  });

  it('says where the declared time comes from', async () => {
    const declared = async (members: object) => {
      const { timestamp_declared, timestamp_declared_source, timestamp_declared_zone } = await vcon(members);
      return [timestamp_declared, timestamp_declared_source, timestamp_declared_zone];
    };
    const observed = ['2026-11-21T08:00:00.250Z', 'observed', undefined];
    expect(await declared({})).toEqual(observed);
    expect(await declared({ created_at: null, updated_at: 5 })).toEqual(observed);
    expect(await declared({ created_at: 'yesterday, anna@example.org' })).toEqual(observed);
    expect(await declared({ created_at: '2026-13-01T00:00:00Z' })).toEqual(observed);
    for (const created_at of [
      '2026-02-30T10:00:00Z',
      '2026-02-03T24:00:00Z',
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00+01:00',
    ])
      expect(await declared({ created_at })).toEqual(observed);
    const naive = { created_at: '2024-03-16T15:35:16.334466' };
    expect(await declared(naive)).toEqual(['2024-03-16T15:35:16.334466Z', 'created_at', 'assumed_utc']);
    expect(await declared({ ...naive, updated_at: '2024-03-17T01:02:03+02:00' })).toEqual([
      '2024-03-17T01:02:03+02:00',
      'updated_at',
      undefined,
    ]);
  });

  it('flags a JCS digest that rounded an integer, and has none where there is no JCS form', async () => {
    expect(await vcon({ n: Number.MAX_SAFE_INTEGER })).not.toHaveProperty('jcs_lossy');
    const lossy = await attributesOf('{"uuid":"019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01","n":9007199254740993}');
    expect(lossy['jcs_lossy']).toBe('true');
    expect(await attributesOf('{"uuid":"019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01","a":1,"a":2}')).not.toHaveProperty(
      'payload_jcs_sha256',
    );
  });

  it('is made of times and a version only in their form, with no other text even in the facts before it', async () => {
    const facts = async (members: object) => {
      const { createdAt, updatedAt, vconMember } = await vconFacts(
        Buffer.from(JSON.stringify({ uuid: UUID, ...members })),
      );
      return [createdAt, updatedAt, vconMember];
    };
    for (const text of ['call me at +15550100123', 'x'.repeat(100_000), '2026-11-20', '2026-11-20T10:00:00Z\nanna']) {
      expect(await facts({ created_at: text, updated_at: text, vcon: text })).toEqual([
        undefined,
        undefined,
        'unknown',
      ]);
      expect((await vcon({ vcon: text }))['vcon_draft_version']).toBe('unknown');
      const entry = { version: '1', method: 'link', operation: 'vcon_sent', hash: 'ab'.repeat(32), uuid: UUID };
      const record = Object.entries({ ...entry, created_at: text, updated_at: text, vcon: text }).flat();
      expect(JSON.stringify(readStreamEntry('1-0', record))).not.toContain(JSON.stringify(text));
    }
    const times = ['2026-11-20T10:00:00.123456+00:00', '2026-11-20 10:00:00'];
    expect(await facts({ created_at: times[0], updated_at: times[1], vcon: '0.0.1' })).toEqual([...times, '0.0.1']);
    expect(await facts({ vcon: '' })).toEqual([undefined, undefined, undefined]);
  });

  it('carries nothing that a person said, and no name, number or address', async () => {
    const people = [
      'Okafor',
      'Ana',
      'Jonas',
      'Lind',
      'Luis',
      'Herrera',
      'Mina',
      'Sato',
      'Petra',
      'Váradi',
      '5550100',
      'parcel',
    ];
    const leak = {
      updated_at: 'anna@example.org',
      vcon: '+15550100123',
      subject: 'Anna',
      created_at: 'tel:+15550100123',
    };
    const files = ['call', 'signed-call', 'text-thread'].map((name) => attributesOf(file(name)));
    const events = await Promise.all([...files, vcon(leak)]);
    const text = JSON.stringify(events);
    for (const word of [...people, '@', '+1555', 'Anna']) expect(text).not.toContain(word);
    for (const value of events.flatMap((event) => Object.values(event))) expect(typeof value).toBe('string');
  });
});

describe('the name of an operation', () => {
  it('gets the prefix of the template once', () => {
    expect(readOperation('/operations/vcon_sent')).toEqual({ name: 'vcon_sent' });
    expect(readOperation('/operations/consent-revoked').name).toBe('vcon_consent_revoked');
    expect(readOperation('/operations/scored')).toEqual({ name: 'vcon_scored' });
  });

  it('is the lifecycle draft’s word for it, beside the word it was reported as', () => {
    expect(readOperation('/operations/transcribed')).toEqual({ name: 'vcon_enhanced', reported: 'vcon_transcribed' });
    expect(readOperation('/operations/redacted').name).toBe('vcon_party_redacted');
    const event = { subject: 'vcon://x', payload: 'y' };
    const ids = ['transcribed', 'tagged', 'vcon_enhanced'].map((name) =>
      operationJobId(readOperation(`/operations/${name}`), event),
    );
    expect(new Set(ids).size).toBe(3);
  });

  it('has its labels from the path, the query or headers, which must agree', () => {
    const labels = { chain: 'main', link: 'l.1', tenancy: 'north' };
    const operation = { name: 'vcon_sent', ...labels };
    expect(readOperation('/tenancies/north/chains/main/links/l.1/operations/vcon_sent')).toEqual(operation);
    expect(readOperation('/chains/main/operations/sent?link=l.1&tenancy=north')).toEqual(operation);
    const headers = { 'x-vcon-chain': 'main', 'x-vcon-link': 'l.1', 'x-vcon-tenancy': 'north' };
    expect(readOperation('/operations/sent?chain=main', headers)).toEqual(operation);
    expect(() => readOperation('/chains/other/operations/sent', headers)).toThrow('chain is given twice');
  });

  it('may have more slashes in its path than needed, as joined addresses have them', () => {
    const operation = { name: 'vcon_sent', chain: 'main', link: 'l.1' };
    for (const path of ['//chains/main//links/l.1/operations//sent', '/chains/main/links/l.1/operations/sent/'])
      expect(readOperation(path)).toEqual(operation);
    expect(readOperation('/operations/sent/?link=l.1')).toEqual({ name: 'vcon_sent', link: 'l.1' });
  });

  it('is refused in time that grows with its path, not with the square of it', () => {
    const path = `/operations${'/'.repeat(300_000)}x/x`;
    expect(() => readOperation(path)).toThrow(OperationError);
  }, 5_000);

  it('is given its labels as they are, whatever they are', () => {
    for (const label of [
      '2026-11-20',
      'my link',
      'Überprüfung/2',
      'x'.repeat(300),
      '+15550100123',
      'anna@example.org',
    ]) {
      const named = { name: 'vcon_sent', link: label };
      expect(readOperation(`/operations/sent?link=${encodeURIComponent(label)}`)).toEqual(named);
      expect(readOperation(`/links/${encodeURIComponent(label)}/operations/sent`)).toEqual(named);
    }
  });

  it('has a whole nonce, also one with a question mark, and is refused with one that is too long', () => {
    expect(readOperation('/operations/sent?nonce=a?1').nonce).toBe('a?1');
    expect(readOperation(`/operations/sent?nonce=${'n'.repeat(4_096)}`).nonce).toHaveLength(4_096);
    expect(() => readOperation(`/operations/sent?nonce=${'n'.repeat(4_097)}`)).toThrow('nonce must have');
  });

  it('is refused with a label that is misspelt, or given twice in one query', () => {
    expect(() => readOperation('/operations/sent?lnik=x')).toThrow('not one of chain, link, type, tenancy, nonce');
    expect(() => readOperation('/operations/sent?link=x&link=y')).toThrow('link is given twice');
    expect(readOperation('/operations/sent?link=x&link=x&').link).toBe('x');
  });

  it('may have a year and a number in its name', () => {
    for (const name of ['vcon_gdpr_2016_679', 'vcon_iso_27001_2022', 'vcon_export_2024_0001', 'vcon_kept_2024_2031'])
      expect(readOperation(`/operations/${name}`).name).toBe(name);
  });

  it('is refused when it is none', () => {
    for (const target of [
      '/operations/',
      '/operations/15550100123',
      '/operations/call_44_20_7946_0958',
      '/operations/a.b',
      '/other/x',
      '/operations/x/y',
      '*',
    ])
      expect(() => readOperation(target)).toThrow(OperationError);
  });
});

describe('a label', () => {
  const recorded = (label: string, secret = 'a-secret') => recordedLabel(label, secret);

  it('is recorded percent-encoded, and hashed only beyond 128 bytes', () => {
    const plain = [
      'evidence_created',
      'l.1',
      '2026-11-20',
      '20261120',
      '20.11.2026',
      '2026-11-20T10:00',
      'v1.2.3',
      'a-1',
      ...[
        'deepgram_link_2',
        'v0_3_1',
        'whisper_v10_12_345',
        'summary_2026_11_25',
        'summary_2026_1_25',
        'run_2026_11_25_10_30_00',
      ],
      ...['chain_2023_2024', 'from 2019-2026', 'sent_2024_0001', 'iso_27001_2022_x'],
      ...['20261125_103000_v2', 'step_1_2_3_4_5_6', 'gpt_4_1_2026_04_14', 'link_3f2a9c1e_77', 'port_8080'],
      ...['gpt-4o-2024-08-06', 'claude-3-5-sonnet-20241022', 'llama-3.1-405b', 'whisper v1.10.123', 'v3.1.2 4096'],
      ...['10:30:00', '10:30:00+00:00', '09:00-17:00', 'open 09:00 - 17:30', '2026-11-25 10:30:00.123456'],
      ...['2026-11-25T10:30:00.123456+00:00', '2026-11-25 10:30:00,123', '2026-11-25, 10:30', '20261125-20261126'],
      ...['2024, 2025', '2023, 2024 & 2025', '2024/2025', 'vcon_gdpr_2016_679', 'port 8080 -> 9090', 'localhost:8080'],
      ...[
        '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01',
        '019a9f20_4d10_8c3a_a1f4_5b6c7d8e9f01',
        'a · b, c | d',
        '50% of 2026',
      ],
    ];
    for (const label of plain) expect(recorded(label)).toBe(encodeURIComponent(label));
    expect(recorded('my link/2 é%')).toBe('my%20link%2F2%20%C3%A9%25');
    expect(decodeURIComponent(recorded('tag (new) – 100%'))).toBe('tag (new) – 100%');
    expect(recorded('x'.repeat(128))).toBe('x'.repeat(128));
    const long = 'é'.repeat(64);
    expect(recorded(long)).toBe(`sha256:${createHash('sha256').update(long).digest('hex')}`);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (label) => {
        expect(recorded(label)).toMatch(/^(?:[A-Za-z0-9_.~%-]{0,128}|(?:hmac-)?sha256:[0-9a-f]{64})$/);
      }),
    );
  });

  it('that looks like a telephone number or an e-mail address is hashed with the tenancy’s secret', () => {
    const personal = [
      ...['+15550100123', '15550100123', '555-010-0123', '(555) 010-0123', '+49 30 901820', 'call 555.010.0123 back'],
      ...[
        'anna@example.org',
        'tel:110',
        'link_4155550123',
        'link_2024_555_0123',
        'link_415_555_2024',
        'call 2024 5550',
        'mailto:x',
        'Anna <anna@example.org>',
        '2026-11-20 5550100',
      ],
      ...['call_44_20_7946_0958', 'notify_+44_20_7946_0958', '2026_11_20_5550100', '44–20–7946–0958', '555−010−0123'],
      ...['٤٤٢٠٧٩٤٦٠٩٥٨', '４４２０７９４６０９５８', '𝟒𝟒𝟐𝟎𝟕𝟗𝟒𝟔𝟎𝟗𝟓𝟖', '555%2D010%2D0123', '%2B44%2020%207946%200958'],
      ...['jane.roe%40example.com', 'jane.roe＠example.com', 'sip%3Ajane'],
    ];
    for (const label of personal) {
      const keyed = `hmac-sha256:${createHmac('sha256', 'a-secret').update(label).digest('hex')}`;
      expect([label, recorded(label)]).toEqual([label, keyed]);
      expect(recorded(label, 'another')).not.toBe(keyed);
    }
  });
});

describe('settings', () => {
  it('take the service’s URL bare, with a path, or ending in /archivist', () => {
    expect(archivistBase('https://a.example')).toBe('https://a.example');
    expect(archivistBase('https://a.example/archivist/')).toBe('https://a.example');
    expect(archivistBase('https://a.example/x/archivist')).toBe('https://a.example/x');
    for (const url of ['ftp://a', 'a.example', 'https://', 'https://a/?b']) expect(() => archivistBase(url)).toThrow();
  });

  it('need credentials', () => {
    const settings = { archivistUrl: 'http://a', clientId: '', clientSecret: 'x', host: '127.0.0.1', port: 0 };
    expect(() => checkPluginSettings(settings)).toThrow(/ARCHIVIST_CLIENT_ID/);
  });
});

describe('the wait before another attempt', () => {
  it('doubles from one second to sixty, its upper half at random', () => {
    const least = (attempts: number) => retryDelay(attempts, undefined, () => 0);
    const most = (attempts: number) => retryDelay(attempts, undefined, () => 0.999999);
    expect([1, 2, 3, 6, 7, 1000].map(least)).toEqual([500, 1000, 2000, 16000, 30000, 30000]);
    expect([1, 2, 3, 6, 7, 1000].map(most)).toEqual([1000, 2000, 4000, 32000, 60000, 60000]);
  });

  it('is what the service asks for, in seconds or as a date, an hour at most', () => {
    const wait = (ms: number) => retryDelay(1, new DeliverLater('', ms), () => 0);
    expect([wait(5_000), wait(120_000), wait(1e9)]).toEqual([5_000, 120_000, 3_600_000]);
    expect(retryAfter('7', 0)).toBe(7_000);
    expect(retryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 15_000)).toBe(45_000);
    expect([retryAfter(null, 0), retryAfter('soon', 0)]).toEqual([undefined, undefined]);
  });
});
