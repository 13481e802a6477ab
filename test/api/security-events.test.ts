import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordSecurityEvent } from '../../src/iam/security/record-security-event.js';
import { openRefusedActs, RECORDED_REFUSALS } from '../../src/iam/security/refused-acts.js';
import type { SecurityAct } from '../../src/iam/security/security-event.js';
import { createLogger } from '../../src/platform/logger.js';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService, until } from './test-service.js';

let running: TestService;
let owner: Client;
let colleague: Client;
let stranger: Client;
beforeAll(async () => {
  running = await startTestService({ QUOTAS: 'access_policies=0' });
  owner = running.owner;
  colleague = await running.client({});
  stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
});
afterAll(() => running?.close());

const LIST = '/archivist/v1/security_events';
const tenantOf = (client: Client) => String(decodeJwt(client.token)['jit_tenant_id']).slice('tenant/'.length);
const actions = (json: Record<string, unknown>) =>
  (json['security_events'] as { attributes: { action: string } }[]).map(({ attributes }) => attributes.action);

function act(action: SecurityAct['action'], change: Partial<SecurityAct> = {}): SecurityAct {
  const actor = { issuer: 'idp', subject: 'somebody', displayName: 'Some body' };
  return { tenantId: tenantOf(owner), actor, action, resource: 'things/1', details: { role: 'OWNER' }, ...change };
}

function record(acts: readonly SecurityAct[], after: () => void = () => undefined, lines: string[] = []) {
  const { database, clock, ids } = running.service.parts;
  const logger = createLogger('warn', { destination: { write: (line) => lines.push(line) } });
  const tenantId = tenantOf(owner);
  return database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    for (const each of acts) await recordSecurityEvent(tx, { clock, ids, logger }, each);
    after();
  });
}

describe('a security event', () => {
  it('is an entry of its log with a receipt, as every other event is', async () => {
    await record([act('thing.create')]);
    const { json } = await owner.get(`${LIST}?action=thing.create`);
    const [entry] = json['security_events'] as Record<string, unknown>[];
    expect(entry).toMatchObject({
      event_type: 'arc_security_event',
      attributes: {
        action: 'thing.create',
        outcome: 'success',
        resource: 'things/1',
        actor: { issuer: 'idp', subject: 'somebody', display_name: 'Some body' },
        details: { role: 'OWNER' },
      },
    });
    const path = `/archivist/v1/${entry!['identity']}`;
    const confirmed = await until(
      () => owner.get(path),
      (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
      20_000,
    );
    expect(confirmed.json['confirmation_status']).toBe('CONFIRMED');
    expect((await owner.get(`${path}/receipt`)).status).toBe(200);
    const statement = await owner.get(`${path}/signed-statement`);
    expect([statement.status, statement.json['description']]).toEqual([
      404,
      expect.stringMatching(/security audit.*receipt/),
    ]);
    expect((await colleague.get(path)).status).toBe(404);
  });

  it('is not there when what it tells of was not done', async () => {
    const failure = () => {
      throw new Error('given up');
    };
    await expect(record([act('thing.undo')], failure)).rejects.toThrow('given up');
    expect(actions((await owner.get(`${LIST}?action=thing.undo`)).json)).toEqual([]);
  });

  it('has one line of the log, at any level, with what it says and where it is proven', async () => {
    const lines: string[] = [];
    await record([act('thing.tell', { outcome: 'failure' })], undefined, lines);
    expect(lines).toHaveLength(1);
    const { security } = JSON.parse(lines[0]!);
    expect(security).toMatchObject({ action: 'thing.tell', outcome: 'failure', actor: { subject: 'somebody' } });
    expect(security.event).toMatch(/^events\//);
  });

  it('cannot be written by anybody, singly or in bulk, and no search shows it', async () => {
    const forged = { attributes: { action: 'thing.forge' }, event_type: 'arc_security_event' };
    expect((await owner.post('/archivist/v1/events', forged)).status).toBe(400);
    const bulk = await owner.post('/archivist/v1/events:bulk', { events: [forged] });
    expect(JSON.stringify(bulk.json)).toContain('arc_security_event is reserved for the service');
    await record([act('thing.hide')]);
    const { json } = await owner.post('/archivist/v1/events/search', { filter: '' });
    expect(JSON.stringify(json)).not.toContain('arc_security_event');
  });
});

describe('a refused act', () => {
  const IAM = '/archivist/iam/v1';
  const SOMEBODY = '0192e8f5-0000-7000-8000-00000000000a';
  const SELF = 'subjects/00000000-0000-0000-0000-000000000000';
  const policy = { display_name: 'Any', filters: [], access_permissions: [] };
  const roles = ['OWNER'];
  const send = (client: Client, method: 'PATCH' | 'DELETE', path: string, body?: unknown) =>
    sendRequest(running.url, client, method, path, body);
  const refused: readonly [string, string, number, () => Promise<{ status: number }>][] = [
    [
      'member.set_roles',
      `members/${SOMEBODY}`,
      403,
      () => send(colleague, 'PATCH', `${IAM}/members/${SOMEBODY}`, { roles }),
    ],
    [
      'member.deactivate',
      `members/${SOMEBODY}`,
      403,
      () => colleague.post(`${IAM}/members/${SOMEBODY}:deactivate`, undefined),
    ],
    ['invite.create', 'invites', 403, () => colleague.post(`${IAM}/invites`, { email: 'eve@example.com' })],
    ['invite.delete', `invites/${SOMEBODY}`, 403, () => send(colleague, 'DELETE', `${IAM}/invites/${SOMEBODY}`)],
    ['subject.change', SELF, 403, () => send(owner, 'PATCH', `${IAM}/${SELF}`, { display_name: 'Me' })],
    ['subject.delete', SELF, 403, () => send(colleague, 'DELETE', `${IAM}/${SELF}`)],
    ['access_policy.create', 'access_policies', 402, () => owner.post(`${IAM}/access_policies`, policy)],
    [
      'access_policy.delete',
      `access_policies/${SOMEBODY}`,
      403,
      () => send(colleague, 'DELETE', `${IAM}/access_policies/${SOMEBODY}`),
    ],
    ['application.delete', 'applications/', 409, () => send(owner, 'DELETE', `${IAM}/applications/${owner.clientId}`)],
    [
      'tenancy.change',
      'tenancies/',
      403,
      () => send(colleague, 'PATCH', '/archivist/v1/tenancies/self', { display_name: 'Mine' }),
    ],
  ];
  it.each(refused)('%s is listed once, as a failure with its reason', async (action, resource, status, work) => {
    const answer = await work();
    expect(answer.status).toBe(status);
    const { json } = await owner.get(`${LIST}?action=${action}`);
    expect(json['security_events']).toMatchObject([
      {
        attributes: {
          action,
          outcome: 'failure',
          resource: expect.stringContaining(resource),
          details: { reason: expect.any(String) },
        },
      },
    ]);
  });
});

describe('refused acts of one caller', () => {
  const listed = async (client: Client) => {
    const { json, headers } = await owner.get(`${LIST}?actor=${client.clientId}`);
    const details = (json['security_events'] as { attributes: { details: object } }[]).map(
      ({ attributes }) => attributes.details,
    );
    return { total: Number(headers.get('x-total-count')), details };
  };
  const tryIt = (client: Client) => client.post('/archivist/iam/v1/applications', { display_name: 'Mine' });

  it('are recorded up to a bound in an hour, of which the last entry tells, and stay refusals', async () => {
    const [eager, other] = [await running.client({}), await running.client({})];
    const answers = await Promise.all(Array.from({ length: RECORDED_REFUSALS + 15 }, () => tryIt(eager)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    for (let times = 0; times < 3; times += 1) expect((await tryIt(eager)).status).toBe(403);
    const { total, details } = await listed(eager);
    expect(total).toBe(RECORDED_REFUSALS);
    expect(details.filter((each) => 'overflow' in each)).toHaveLength(1);
    await tryIt(other);
    expect(await listed(other)).toEqual({ total: 1, details: [{ reason: expect.any(String) }] });
  });

  it('beyond the bound are lines of the log, ten a minute at most', async () => {
    const lines: string[] = [];
    const refusedActs = openRefusedActs(createLogger('warn', { destination: { write: (line) => lines.push(line) } }));
    const recorded: SecurityAct[] = [];
    for (let times = 0; times < RECORDED_REFUSALS + 30; times += 1)
      await refusedActs.keep(act('thing.refuse', { outcome: 'failure' }), async (kept) => {
        recorded.push(kept);
      });
    await expect.poll(() => lines.length).toBeGreaterThanOrEqual(10);
    expect([recorded.length, lines.length]).toEqual([RECORDED_REFUSALS, 10]);
    expect(JSON.parse(lines[0]!)).toMatchObject({ security: { action: 'thing.refuse', outcome: 'failure' } });
  });
});

describe('the list of security events', () => {
  it('is for Owners of the tenancy alone', async () => {
    expect((await colleague.get(LIST)).status).toBe(403);
    expect(actions((await stranger.get(LIST)).json)).toEqual([]);
  });

  it('is newest first, paged, and narrowed by what its filters name', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `paged.${letter}` as const);
    const resource = 'things/paged';
    await record(names.map((name) => act(name, { resource })));
    const seen: string[] = [];
    let token = '';
    do {
      const page = token === '' ? `resource=${resource}&page_size=2` : `page_token=${token}&page_size=2`;
      const { json } = await owner.get(`${LIST}?${page}`);
      seen.push(...actions(json));
      token = String(json['next_page_token']);
    } while (token !== '');
    expect(seen).toEqual([...names].reverse());
    const before = await owner.get(`${LIST}?resource=${resource}&before=2001-01-01T00:00:00Z`);
    expect(actions(before.json)).toEqual([]);
    const since = await owner.get(`${LIST}?resource=${resource}&since=2001-01-01T00:00:00Z&actor=somebody`);
    expect(since.headers.get('x-total-count')).toBe('5');
    expect((await owner.get(`${LIST}?colour=red`)).status).toBe(400);
    expect((await owner.get(`${LIST}?since=yesterday`)).status).toBe(400);
  });

  it('begins and ends at a time that is finer than a millisecond', async () => {
    const resource = 'things/finer';
    await record([act('finer.a', { resource })]);
    const [event] = (await owner.get(`${LIST}?resource=${resource}`)).json['security_events'] as {
      created_at: number;
    }[];
    const finer = new Date(event!.created_at).toISOString().replace('Z', '456Z');
    expect(actions((await owner.get(`${LIST}?resource=${resource}&since=${finer}`)).json)).toEqual([]);
    expect(actions((await owner.get(`${LIST}?resource=${resource}&before=${finer}`)).json)).toEqual(['finer.a']);
  });
});
