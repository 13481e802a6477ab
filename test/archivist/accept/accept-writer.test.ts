import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AcceptWriter, createAcceptWriter } from '../../../src/archivist/accept/accept-writer.js';
import type { Settled, Submission } from '../../../src/archivist/accept/submission.js';
import { utf8 } from '../../../src/core/bytes.js';
import { utf8Text } from '../../../src/core/utf8-text.js';
import { OWNER_ROLE } from '../../../src/iam/access/owner-and-creator.js';
import type { Quotas } from '../../../src/iam/tenancies/quotas.js';
import { noFailpoints } from '../../../src/ledger/failpoints.js';
import { keepPolicies } from '../../../src/ledger/registration-store.js';
import { systemClock } from '../../../src/platform/clock.js';
import { createIds } from '../../../src/platform/ids.js';
import { nodeSha256 } from '../../../src/platform/node-sha256.js';
import { template } from '../../api/test-service.js';
import { drawFrom } from '../../core/verify/mutants.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const UNKNOWN = randomUUID();
const FOREVER_MS = 600_000;
const NAMES = { issuer: 'i', subject: 's', displayName: 'n', email: '', roles: [], claims: {} };

describe.each(engines())('batches of submissions on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened?.close());

  /** A writer, and the sizes of the batches that it has written. @param tenancies those that exist */
  function writing(
    mostGatherMs: number,
    { tenancies = [], quotas = {} }: { tenancies?: readonly string[]; quotas?: Quotas } = {},
  ): { writer: AcceptWriter; sizes: number[]; told: string[] } {
    const sizes: number[] = [];
    const told: string[] = [];
    const nameOf = (logId: string) =>
      ({ [publicStatementLog]: 'public statements', [privateStatementLog]: 'private statements' })[logId] ?? 'tenancy';
    const [deploymentTenancy, publicTenancy, publicStatementLog, privateStatementLog, keysLog] = Array.from(
      { length: 5 },
      () => randomUUID(),
    ) as [string, string, string, string, string];
    const writer = createAcceptWriter({
      database: opened.database,
      deployment: { deploymentTenancy, publicTenancy, publicStatementLog, privateStatementLog, keysLog },
      clock: systemClock,
      ids: createIds(systemClock),
      quotas,
      failpoints: noFailpoints,
      metrics: { accepted: () => {}, batchAccepted: (size) => sizes.push(size) },
      halted: () => false,
      wallets: new Map(tenancies.map((tenancy) => [tenancy, '0x0'])),
      statementAssets: new Map(),
      admit: () => {},
      nudge: ({ logId }, entries) => void told.push(`nudge ${nameOf(logId)} ${entries}`),
      prepare({ logId }, statements) {
        told.push(`prepare ${nameOf(logId)} ${statements.map(({ entry }) => utf8Text(entry)).join(',')}`);
        return (committed) => void told.push(`committed ${committed}`);
      },
      mostGatherMs,
    });
    return { writer, sizes, told };
  }

  const principalOf = (tenantId: string) => ({ tenantId, ...NAMES });

  /** Of a tenancy that does not exist: it is refused, and its batch is counted like any other. */
  function submission(tenantId: string = randomUUID()): Submission {
    const principal = principalOf(tenantId);
    return { kind: 'asset_free_event', principal, attributes: {}, trails: [], eventType: '' };
  }

  const statement = (content: string) => ({
    submitted: utf8(content),
    entry: utf8(content),
    hash: nodeSha256(utf8(randomUUID())),
    policy: { text: '{}', digest: nodeSha256(utf8('{}')) },
    keyResolution: {},
  });
  const register = (tenantId: string, registered: ReturnType<typeof statement>, isAwaited = false): Submission => {
    const principal = principalOf(tenantId);
    return { kind: 'registration', principal, public: true, eventAttributes: {}, statement: registered, isAwaited };
  };

  const refusedOrIn = (outcome: Settled) =>
    'refused' in outcome ? outcome.refused.code : 'accepted' in outcome ? outcome.accepted : outcome.failed;

  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  it('wait for the submissions that are announced, and not for others', async () => {
    const { writer, sizes } = writing(FOREVER_MS);
    const [second, refused] = [writer.expect(), writer.expect()];
    const first = writer.acceptTogether([submission()]);
    await turns(5);
    refused();
    await turns(5);
    expect(sizes).toEqual([]);
    const both = [first, writer.acceptTogether([submission()])];
    second();
    await Promise.all(both);
    expect(sizes).toEqual([2]);
    await writer.acceptTogether([submission()]);
    expect(sizes).toEqual([2, 1]);
  });

  it('wait a limited time, and not at all when they are full', async () => {
    const limited = writing(1);
    limited.writer.expect();
    await limited.writer.acceptTogether([submission()]);
    const full = writing(FOREVER_MS);
    full.writer.expect();
    await full.writer.acceptTogether(Array.from({ length: 200 }, () => submission()));
    expect([limited.sizes, full.sizes]).toEqual([[1], [200]]);
  });

  it('leave room for others while the bulk requests of one tenancy wait, and write it before most of them', async () => {
    const { writer } = writing(1);
    const [bulky, other] = [randomUUID(), randomUUID()];
    const ended: string[] = [];
    const send = (tenantId: string, length: number): Promise<unknown> =>
      writer.acceptTogether(Array.from({ length }, () => submission(tenantId))).then(
        () => ended.push(tenantId),
        (error: unknown) => error,
      );
    const bulks = Array.from({ length: 8 }, () => send(bulky, 1000));
    const single = send(other, 1);
    expect(await single).toBeTypeOf('number');
    const before = ended.indexOf(other);
    const refused = (await Promise.all(bulks)).filter((outcome) => typeof outcome !== 'number');
    expect(refused).toHaveLength(3);
    for (const error of refused) expect(error).toMatchObject({ code: 'unavailable', headers: { 'retry-after': '1' } });
    expect(before).toBeLessThanOrEqual(1);
  });

  it('keep the tenancies of one person apart who uses a key in two of them at once', async () => {
    const tenancies = [randomUUID(), randomUUID()];
    const { writer, sizes } = writing(1, { tenancies });
    const scope = new Uint8Array(32).fill(7);
    const all = tenancies.map((tenantId, place): Submission => {
      const idempotency = { tenantId, scope, bodyHash: new Uint8Array(32).fill(place) };
      return { ...submission(), principal: principalOf(tenantId), idempotency };
    });
    const made = (await writer.acceptTogether(all)).map(refusedOrIn);
    expect(made).toMatchObject(tenancies.map((tenantId) => ({ kind: 'asset_free_event', event: { tenantId } })));
    const ids = made.map((each) => (each as { event: { eventId: string } }).event.eventId);
    expect((await writer.acceptTogether(all)).map(refusedOrIn)).toEqual(ids.map((id) => ({ kind: 'earlier', id })));
    expect(sizes).toEqual([2, 2]);
  });

  it('register a statement for the first tenancy that has room for it, in the order in which they brought it', async () => {
    const [full, other, third] = [randomUUID(), randomUUID(), randomUUID()];
    const { writer } = writing(1, { tenancies: [full, other, third], quotas: { events: 2 } });
    // The asset for statements takes the other event.
    await writer.acceptTogether([register(full, statement('its own'))]);
    await opened.asOwner(`UPDATE archivist.tenancy_usage SET used = 2 WHERE tenant_id = $1`, [full]);
    const both = statement('of both');
    const brought = [full, other, full, third].map((tenantId) => register(tenantId, both));
    const [refused, taken, again, later] = (await writer.acceptTogether(brought)).map(refusedOrIn);
    expect([refused, again]).toEqual(['quota_reached', 'quota_reached']);
    expect(taken).toMatchObject({ kind: 'registration' });
    expect(later).toEqual(taken);
    const { eventId, assetId } = (taken as { entry: { eventId: string; assetId: string } }).entry;
    const rows = await opened.asOwner(
      `SELECT r.event_id, a.tenant_id FROM archivist.registration r JOIN archivist.asset a USING (asset_id)
        WHERE r.statement_hash = $1 AND a.tenant_id = a.origin_tenant_id`,
      [both.hash],
    );
    expect(rows).toEqual([{ event_id: eventId, tenant_id: other }]);
    expect(assetId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('tell the log of statements for which a caller waits before the commit, and nudge it only otherwise', async () => {
    const tenancy = randomUUID();
    const { writer, told } = writing(1, { tenancies: [tenancy] });
    const many = (count: number, isAwaited: boolean, content = 'statement') =>
      Array.from({ length: count }, () => register(tenancy, statement(content), isAwaited));
    await writer.acceptTogether(many(1, true, 'makes the asset'));
    const toldOf = async (submissions: readonly Submission[]): Promise<readonly string[]> => {
      told.length = 0;
      await writer.acceptTogether(submissions);
      return told.filter((each) => !each.startsWith('nudge tenancy'));
    };
    const prepared = ['prepare public statements awaited,not', 'committed true'];
    expect(await toldOf([...many(1, true, 'awaited'), ...many(1, false, 'not')])).toEqual(prepared);
    expect(told).toEqual([...prepared, 'nudge tenancy 2', 'nudge tenancy 2']);
    expect(await toldOf(many(2, false))).toEqual(['nudge public statements 2']);
    expect(await toldOf(many(17, true))).toEqual(['nudge public statements 17']);
    expect(await toldOf(many(2, true, 'long'.repeat(40_000)))).toEqual(['nudge public statements 2']);
  });

  it('answer a repeated statement with its first entry, and take the next ones to be new only after a batch without a repeat', async () => {
    const tenancy = randomUUID();
    const { writer, told } = writing(1, { tenancies: [tenancy] });
    const awaited = (registered: ReturnType<typeof statement>) => register(tenancy, registered, true);
    await writer.acceptTogether([awaited(statement('makes the asset'))]);
    const [one, other] = [statement('one'), statement('other')];
    const accept = async (...statements: ReturnType<typeof statement>[]) => {
      told.length = 0;
      const outcomes = await writer.acceptTogether(statements.map(awaited));
      return outcomes.map((outcome) => (refusedOrIn(outcome) as { entry: { eventId: string; repeated?: true } }).entry);
    };
    const ofLog = () => told.filter((each) => !each.startsWith('nudge tenancy'));
    const [first] = await accept(one);
    expect(ofLog()).toEqual(['prepare public statements one', 'committed true']);
    const [again, fresh] = await accept(one, other);
    expect(again).toEqual({ ...first, repeated: true });
    expect(fresh).not.toHaveProperty('repeated');
    const taken = ['prepare public statements other', 'committed true'];
    expect(ofLog()).toEqual(['prepare public statements one,other', 'committed false', ...taken]);
    expect(await accept(one)).toEqual([again]);
    expect(ofLog()).toEqual([]);
    await accept(statement('next'));
    await accept(one);
    expect(ofLog()).toEqual(['prepare public statements one', 'committed false']);
  });

  it('record a repeated key once, also where new ones go with it and two writers take it at once', async () => {
    const tenancy = randomUUID();
    const writers = [writing(1, { tenancies: [tenancy] }), writing(1, { tenancies: [tenancy] })];
    const keyed = (key: number): Submission => {
      const idempotency = { tenantId: tenancy, scope: new Uint8Array(32).fill(key), bodyHash: new Uint8Array(32) };
      return { ...submission(tenancy), idempotency };
    };
    const idOf = (outcome: Settled) => {
      const accepted = refusedOrIn(outcome) as { id?: string; event?: { eventId: string } };
      return accepted.id ?? accepted.event?.eventId;
    };
    const keys = [1, 2, 3, 4].map(keyed);
    const all = await Promise.all(
      writers.map(({ writer }, place) => writer.acceptTogether(keys.slice(place, place + 3))),
    );
    const [left, right] = all.map((outcomes) => outcomes.map(idOf));
    expect(right!.slice(0, 2)).toEqual(left!.slice(1));
    const [{ count }] = (await opened.asOwner(
      `SELECT count(*)::int AS count FROM archivist.asset_free_event WHERE tenant_id = $1`,
      [tenancy],
    )) as [{ count: number }];
    expect(count).toBe(4);
    expect((await writers[0]!.writer.acceptTogether(keys)).map(idOf)).toEqual([...left!, right![2]]);
  });

  it('answer like those that ask first, whichever keys, bodies and statements are repeated', async () => {
    const one = drawFrom(1);
    const tenancies = [randomUUID(), randomUUID()] as const;
    const writers = tenancies.map((tenancy, place) => {
      // A batch that counts what it takes asks first.
      const quotas = place === 0 ? {} : { events: 1_000_000, asset_free_events: 1_000_000 };
      return writing(1, { tenancies: [tenancy], quotas }).writer;
    });
    /** What one client sends, the same for both tenancies: keys and statements of this batch and of the last one. */
    function drawn(batch: number): (tenantId: string) => Submission {
      const [kind, key, body] = [one(10), `${3 * batch + one(5)}`, one(2)];
      const hash = nodeSha256(utf8(key));
      if (kind < 3) return (tenantId) => register(tenantId, { ...statement(key), hash }, body === 0);
      if (kind === 3) return () => submission(UNKNOWN);
      // Text that the database cannot store.
      const attributes = kind === 4 ? { text: '\u0000' } : {};
      const bodyHash = new Uint8Array(32).fill(body);
      return (tenantId) =>
        ({ ...submission(tenantId), attributes, idempotency: { tenantId, scope: hash, bodyHash } }) as Submission;
    }
    /** Ids by their first appearance. */
    const seen = tenancies.map(() => new Map<string, number>());
    const told = (outcome: Settled, place: number) => {
      const result = refusedOrIn(outcome);
      if (typeof result === 'string') return result;
      const { kind, code, id, event, entry } = result as {
        [name in 'kind' | 'code' | 'id']?: string;
      } & { event?: { eventId: string }; entry?: { eventId: string; repeated?: true } };
      const made = id ?? event?.eventId ?? entry?.eventId;
      const ids = seen[place]!;
      if (made !== undefined && !ids.has(made)) ids.set(made, ids.size);
      return [kind ?? code, made && ids.get(made), entry?.repeated];
    };
    for (let batch = 0; batch < 80; batch += 1) {
      const sent = Array.from({ length: 1 + one(4) }, () => drawn(batch));
      const [guessed, asked] = await Promise.all(
        writers.map(async (writer, place) => {
          const outcomes = await writer.acceptTogether(sent.map((each) => each(tenancies[place]!)));
          return outcomes.map((outcome) => told(outcome, place));
        }),
      );
      expect(guessed, `batch ${batch}`).toEqual(asked);
    }
  });

  it('ask first after a key that was reused for another body, as after any repeat', async () => {
    const tenancy = randomUUID();
    const { writer, told } = writing(1, { tenancies: [tenancy] });
    const keyed = (body: number): Submission => {
      const idempotency = { tenantId: tenancy, scope: new Uint8Array(32), bodyHash: new Uint8Array(32).fill(body) };
      return { ...submission(tenancy), idempotency };
    };
    await writer.acceptTogether([register(tenancy, statement('makes the asset'), true), keyed(1)]);
    expect((await writer.acceptTogether([keyed(2)])).map(refusedOrIn)).toEqual(['unprocessable']);
    told.length = 0;
    // A guess that fails is told, and withdrawn.
    await writer.acceptTogether([register(tenancy, statement('new'), true), keyed(2)]);
    expect(told.filter((each) => each.startsWith('committed'))).toEqual(['committed true']);
  });

  it('do not tell a log of statements among which one still has to be signed', async () => {
    const tenancy = randomUUID();
    const { writer, told } = writing(1, { tenancies: [tenancy] });
    const principal = { ...principalOf(tenancy), roles: [OWNER_ROLE] };
    const behaviours = ['RecordEvidence'];
    const asset = { kind: 'asset', principal, attributes: {}, behaviours, proofMechanism: 'MERKLE_LOG', public: true };
    const made = await writer.accept(asset as Submission);
    const { assetId } = (made as { asset: { assetId: string } }).asset;
    const event = { kind: 'asset_event', principal, assetId, operation: 'Record', behaviour: 'RecordEvidence' };
    const unsigned = { ...event, eventAttributes: template('vcon://a'), assetAttributes: {} } as unknown as Submission;
    await writer.acceptTogether([register(tenancy, statement('makes the asset'), true)]);
    told.length = 0;
    const both = await writer.acceptTogether([register(tenancy, statement('awaited'), true), unsigned]);
    expect(both.map((each) => 'accepted' in each)).toEqual([true, true]);
    expect(told.filter((each) => !each.startsWith('nudge tenancy'))).toEqual(['nudge public statements 2']);
  });

  it('tell the log that the statements of a transaction did not come that meets a conflict and is repeated', async () => {
    const tenancy = randomUUID();
    const { writer, told } = writing(1, { tenancies: [tenancy] });
    await writer.acceptTogether([register(tenancy, statement('makes the asset'), true)]);
    told.length = 0;
    // A sequence counts what is rolled back too.
    await opened.asOwner('CREATE SEQUENCE public.inserts');
    await opened.asOwner(
      `CREATE FUNCTION public.first_conflicts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
         IF nextval('public.inserts') = 1 THEN RAISE EXCEPTION 'a conflict' USING ERRCODE = '40001'; END IF;
         RETURN NEW; END $$`,
    );
    await opened.asOwner(
      'CREATE TRIGGER conflicts BEFORE INSERT ON archivist.statement FOR EACH ROW EXECUTE FUNCTION public.first_conflicts()',
    );
    await writer.accept(register(tenancy, statement('repeated'), true));
    await opened.asOwner('DROP FUNCTION public.first_conflicts CASCADE');
    const prepared = 'prepare public statements repeated';
    expect(told.filter((each) => !each.startsWith('nudge tenancy'))).toEqual([
      prepared,
      'committed false',
      prepared,
      'committed true',
    ]);
  });

  it('tell the log that statements did not come whose transaction failed', async () => {
    const tenancy = randomUUID();
    const { writer, told } = writing(1, { tenancies: [tenancy] });
    await writer.acceptTogether([register(tenancy, statement('makes the asset'), true)]);
    told.length = 0;
    // Text that the database cannot store.
    const refused = { ...register(tenancy, statement('refused'), true), eventAttributes: { text: '\u0000' } };
    const both = [refused as Submission, register(tenancy, statement('good'), true)];
    const [failed, taken] = await writer.acceptTogether(both);
    expect([failed, taken]).toMatchObject([{ failed: { code: '22P05' } }, { accepted: { kind: 'registration' } }]);
    expect(told.filter((each) => !each.startsWith('nudge tenancy'))).toEqual([
      'prepare public statements refused,good',
      'committed false',
      'prepare public statements refused',
      'committed false',
      'prepare public statements good',
      'committed true',
    ]);
  });
});

it('a batch sends each registration policy once, however many statements name it', () => {
  const policy = (tenantId: string, text: string) => ({ tenantId, text, digest: nodeSha256(utf8(text)) });
  const inserts = [...keepPolicies([policy('a', '{}'), policy('a', '{}'), policy('b', '{}'), policy('a', '[]')])];
  expect(inserts.map(({ values }) => values?.[0])).toEqual(['{a,b,a}']);
});
