import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockHash } from '../../src/archivist/chain/block.js';
import { hexData } from '../../src/archivist/quantity.js';
import { faultsOfAudit } from './faults-of-audit.js';
import { recomputedAnchor } from './simple-hash-verifier.js';
import { type Answer, type Client, startTestService, type TestService, until } from './test-service.js';

let running: TestService;
let owner: Client;
let stranger: Client;
beforeAll(async () => {
  running = await startTestService({ ANCHOR_SCHEDULE: '* * * * * *' });
  owner = running.owner;
  stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
});
afterAll(() => running?.close());

const NODE = '/archivist/v1/archivistnode';
const ANCHORED_MS = 45_000;
const madeAsset = async (body: Record<string, unknown>) =>
  String((await owner.post('/archivist/v2/assets', { attributes: { kind: 'x' }, ...body })).json['identity']);
const record = async (asset: string, attributes: Record<string, unknown>, operation = 'Record') => {
  const behaviour = operation === 'Record' ? 'RecordEvidence' : 'Builtin';
  const body = { operation, behaviour, event_attributes: attributes };
  return String((await owner.post(`/archivist/v2/${asset}/events`, body)).json['identity']);
};
const transactionsOf = (event: string, client = owner) =>
  client.get(`/archivist/v1alpha2/blockchain/${event.replace('publicassets', 'assets')}`);
interface Listed {
  readonly kind: string;
  readonly transaction: Record<string, string | number>;
  readonly simple_hash_details: Record<string, string | number>;
  readonly khipu_details: Record<string, never>;
  readonly merkle_log_details: Record<string, unknown>;
}
const listed = ({ json }: Answer) => (json['transactions'] as Listed[])[0]!;
const anchored = async (event: string, client = owner) =>
  listed(
    await until(
      () => transactionsOf(event, client),
      ({ json }) => (json['transactions'] as Listed[]).length > 0,
      ANCHORED_MS,
    ),
  );
const newAssetEvent = async (asset: string, form = 'assets') => {
  const { json } = await owner.get(`/archivist/v2/${asset.replace('assets', form)}/events`);
  return (json['events'] as { identity: string }[]).at(-1)!.identity;
};
const query = (details: Listed['simple_hash_details']) => String(details['api_query']);

describe('the events of a SIMPLE_HASH asset', () => {
  let asset: string;
  let events: string[];
  beforeAll(async () => {
    asset = await madeAsset({ proof_mechanism: 'SIMPLE_HASH', attributes: { arc_display_name: 'é' } });
    await madeAsset({ proof_mechanism: 'MERKLE_LOG' });
    events = [await record(asset, { a: 'b', list: ['x', { y: 'z' }] }), await record(asset, {}, 'StopTracking')];
  });

  it('have no transaction before they are anchored', async () => {
    const fresh = await record(asset, { fresh: 'yes' });
    events.push(fresh);
    const { status, json } = await transactionsOf(fresh);
    expect([status, json]).toEqual([200, { transactions: [], next_page_token: '' }]);
  });

  it('have one anchor, which its published query gives again in pages of any size, in both schemas', async () => {
    const { kind, simple_hash_details: details, khipu_details, transaction } = await anchored(events.at(-1)!);
    expect([kind, khipu_details]).toEqual(['SIMPLE_HASH', {}]);
    expect(Object.keys(details).sort()).toEqual(
      ['anchor_hash', 'api_query', 'end_time', 'event_count', 'hash_schema_version', 'start_time'].sort(),
    );
    expect(details['hash_schema_version']).toBe(2);
    for (const pageSize of [1, 10])
      expect(await recomputedAnchor(query(details), owner.token, pageSize)).toEqual({
        hash: details['anchor_hash'],
        count: details['event_count'],
      });
    const schema1 = query(details).replace('SIMPLEHASHV2', 'SIMPLEHASHV1');
    expect((await recomputedAnchor(schema1, owner.token, 2)).hash).toBe(details['anchor_hash']);
    expect(String(transaction['input'])).toContain(details['anchor_hash']);
  });

  it('carry their transaction and its block, and are found by it', async () => {
    const { transaction } = await anchored(events[0]!);
    const { json } = await owner.get(`/archivist/v2/${events[0]}`);
    expect(json).toMatchObject({
      transaction_id: transaction['hash'],
      block_number: Number(transaction['block_number']),
      transaction_index: transaction['transaction_index'],
    });
    const found = await owner.get(`/archivist/v2/assets/-/events?transaction_id=${transaction['hash']}`);
    expect((found.json['events'] as { identity: string }[]).map((event) => event.identity)).toContain(events[0]);
    const none = await owner.get(`/archivist/v2/assets/-/events?transaction_id=0x${'0'.repeat(64)}`);
    expect(none.json['events']).toEqual([]);
  });

  it('that come later are in a window that begins where the one before ended', async () => {
    const first = await anchored(events.at(-1)!);
    const later = await record(asset, { later: 'yes' });
    const second = await anchored(later);
    const { simple_hash_details: details } = second;
    expect(Date.parse(String(details['start_time']))).toBeGreaterThanOrEqual(
      Date.parse(String(first.simple_hash_details['end_time'])),
    );
    expect((await recomputedAnchor(query(details), owner.token, 3)).hash).toBe(details['anchor_hash']);
    expect(Number(second.transaction['nonce'])).toBeGreaterThan(Number(first.transaction['nonce']));
  });

  it('give another hash when one of them was altered behind the service', async () => {
    const { simple_hash_details: details } = await anchored(events[0]!);
    const id = events[0]!.split('/').at(-1);
    await running.asOwner(`UPDATE archivist.asset_event SET event_attributes = '{"a":"c"}' WHERE event_id = '${id}'`);
    expect((await recomputedAnchor(query(details), owner.token, 10)).hash).not.toBe(details['anchor_hash']);
  });
});

describe('events that another tenancy shares', () => {
  it('are in lists, and in no anchor of whom they are shared with', async () => {
    const subjects = '/archivist/iam/v1/subjects';
    const know = async (client: Client, whom: Client) => {
      const { json } = await whom.get(`${subjects}/00000000-0000-0000-0000-000000000000`);
      const { wallet_pub_key, tessera_pub_key } = json;
      const known = await client.post(subjects, { display_name: 'A partner', wallet_pub_key, tessera_pub_key });
      return String(known.json['identity']);
    };
    const ownerThere = await know(stranger, owner);
    await know(owner, stranger);
    const attributes = { arc_display_type: 'Shared' };
    const body = { attributes, proof_mechanism: 'SIMPLE_HASH' };
    const shared = String((await stranger.post('/archivist/v2/assets', body)).json['identity']);
    await stranger.post('/archivist/iam/v1/access_policies', {
      display_name: 'Partners read',
      filters: [{ or: ['attributes.arc_display_type=Shared'] }],
      access_permissions: [{ subjects: [ownerThere], behaviours: ['*'], event_arc_display_type_read: ['*'] }],
    });
    const own = await madeAsset({ proof_mechanism: 'SIMPLE_HASH' });
    const listedBy = async (order: string) => {
      const { json } = await owner.get(`/archivist/v2/assets/-/events?order_by=${order}&page_size=1000`);
      return (json['events'] as { asset_identity: string }[]).map((event) => event.asset_identity);
    };
    expect(await listedBy('DEFAULT')).toEqual(expect.arrayContaining([own, shared]));
    expect(await listedBy('SIMPLEHASHV2')).not.toContain(shared);
    const oldest = await owner.get(`/archivist/v2/${shared}/events?order_by=SIMPLEHASHV2`);
    expect(oldest.json['events'], 'but the events of the one asset are in every order').toHaveLength(2);
    const { simple_hash_details: details } = await anchored(await newAssetEvent(own));
    expect((await recomputedAnchor(query(details), owner.token, 10)).hash).toBe(details['anchor_hash']);
  });
});

describe('the public form of a SIMPLE_HASH event', () => {
  it('has an anchor of its own, which anybody recomputes without a token', async () => {
    const asset = await madeAsset({ proof_mechanism: 'SIMPLE_HASH', public: true });
    const event = await newAssetEvent(asset, 'publicassets');
    const { simple_hash_details: details, transaction } = await anchored(event, stranger);
    expect(query(details)).toContain('/archivist/v2/publicassets/-/events?');
    expect((await recomputedAnchor(query(details), '', 1)).hash).toBe(details['anchor_hash']);
    const { json } = await running.anonymous.get(`/archivist/v2/${event}`);
    expect(json['transaction_id']).toBe(transaction['hash']);
    const own = await anchored(event);
    expect(query(own.simple_hash_details)).toContain('/archivist/v2/assets/-/events?');
    expect(own.transaction['hash']).not.toBe(transaction['hash']);
    // An event of the tenancy's own form was altered above.
    const faults = (await faultsOfAudit(running)).filter((fault) => /^(anchors|chain|events): /.test(fault));
    expect(faults).toEqual([
      expect.stringMatching(/^anchors: tenant\/\S+: anchor \d+ has a different hash than its events give$/),
    ]);
    expect(faults[0]).not.toContain(running.service.parts.deployment.publicTenancy);
  });
});

describe('an event of a MERKLE_LOG asset', () => {
  it('lists the transaction of the seal that covers its commit', async () => {
    const event = await newAssetEvent(await madeAsset({}));
    const { kind, transaction, merkle_log_details: details } = await anchored(event);
    const { json } = await owner.get(`/archivist/v2/${event}`);
    const entry = json['merklelog_entry'] as { commit: unknown; confirm: { root: string; mmr_size: string } };
    expect(kind).toBe('MERKLE_LOG');
    expect(details['commit']).toEqual(entry.commit);
    expect(details['mmr_size']).toBe(entry.confirm.mmr_size);
    expect(details['root']).toBe(hexData(Buffer.from(entry.confirm.root, 'base64')));
    expect(String(transaction['input'])).toContain(String(details['root']).slice(2));
    expect(json['transaction_id']).toBe(transaction['hash']);
    const found = await owner.get(`/archivist/v2/assets/-/events?transaction_id=${transaction['hash']}`);
    expect((found.json['events'] as { identity: string }[]).map(({ identity }) => identity)).toContain(event);
  });

  it('is nobody else’s to ask about', async () => {
    const event = await newAssetEvent(await madeAsset({}));
    expect((await transactionsOf(event, stranger)).status).toBe(404);
    expect((await transactionsOf(event, await running.client({}))).status).toBe(404);
  });
});

describe('the chain', () => {
  type Block = Parameters<typeof blockHash>[0] & { hash: string };
  const block = async (by: string) => (await owner.get(`${NODE}/block?${by}`)).json as unknown as Block;

  it('is what the node reports: its height, its first block, one maker and no peers', async () => {
    const { status, json } = await owner.get(NODE);
    const [node] = json['blockchain_nodes'] as Record<string, unknown>[];
    expect(status).toBe(200);
    expect(node).toMatchObject({ connection_status: 'REACHABLE', syncing: null, peers: [] });
    expect(node!['validator_pubkey']).toMatchObject({ kty: 'EC', crv: 'secp256k1', d: '' });
    expect((await block('number=0')).hash).toBe(node!['genesis_hash']);
    expect((await block(`number=${node!['block_height']}`)).number).toBe(
      `0x${Number(node!['block_height']).toString(16)}`,
    );
  });

  it('has a newest block, whatever is said of its being public', async () => {
    const before = await block('number=latest');
    const after = await block('number=latest&public=true');
    expect(Number(before.number)).toBeGreaterThan(0);
    expect(Number(after.number)).toBeGreaterThanOrEqual(Number(before.number));
    expect(await block(`number=${after.number}`)).toEqual(after);
  });

  it('is linked by hashes that recompute from the fields of each block', async () => {
    const { json } = await owner.get(NODE);
    const height = Number((json['blockchain_nodes'] as { block_height: string }[])[0]!.block_height);
    expect(height).toBeGreaterThan(0);
    let child: Block | undefined;
    for (let number = height; number >= 0; number -= 1) {
      const each = await block(`number=0x${number.toString(16)}`);
      expect(hexData(blockHash(each))).toBe(each.hash);
      if (child) expect(child.parentHash).toBe(each.hash);
      expect(await block(`hash=${each.hash}`)).toEqual(each);
      child = each;
    }
  });

  it.each([
    ['', 400, 'hash, number'],
    [`?number=1&hash=0x${'0'.repeat(64)}`, 400, 'hash, number'],
    ['?number=-1', 400, 'number'],
    ['?number=first', 400, 'number'],
    ['?height=1', 400, 'query: '],
    ['?hash=0x12', 400, 'hash'],
    ['?number=999999999', 404, 'no such block'],
    [`?hash=0x${'0'.repeat(64)}`, 404, 'no such block'],
  ])('refuses a block that is asked for by %s', async (by, status, named) => {
    const answer = await owner.get(`${NODE}/block${by}`);
    expect(answer.status).toBe(status);
    expect(answer.json['description']).toContain(named);
  });
});
