import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockHash } from '../../src/archivist/chain/block.js';
import { hexData } from '../../src/archivist/quantity.js';
import { recomputedAnchor } from '../api/simple-hash-verifier.js';
import { createDeployment, type Deployment, ENGINES, type RunningProcess, requestToken } from './deployment.js';
import type { ServiceProcess } from './service-process.js';

const FAILPOINTS = ['anchor.closed', 'anchor.inside', 'chain.signed', 'chain.inside', 'chain.committed'];
const ANCHORED_MS = 90_000;
const PUBLIC_URL = 'http://archivist.example';

interface Details {
  readonly api_query: string;
  readonly anchor_hash: string;
  readonly event_count: number;
}
type Block = Parameters<typeof blockHash>[0] & { hash: string };

describe.concurrent.each(ENGINES)('on %s', (engine) => {
  let deployment: Deployment;
  let environment: Record<string, string>;
  let clean: RunningProcess;
  let asset: string;
  /** Every process accepts it. */
  let token: string;
  const events: string[] = [];
  beforeAll(async () => {
    deployment = await createDeployment(engine);
    environment = { ...deployment.armable, ANCHOR_SCHEDULE: '* * * * * *' };
    clean = await deployment.start(environment);
    token = await requestToken(clean.url);
    const body = { proof_mechanism: 'SIMPLE_HASH' };
    asset = String((await ask(clean.url, '/archivist/v2/assets', body))['identity']);
    await record(clean.url);
    const { events: listed } = await ask(clean.url, `/archivist/v2/${asset}/events`);
    events.push((listed as { identity: string }[]).at(-1)!.identity);
  });
  afterAll(() => deployment?.close());

  async function ask(url: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  }

  async function record(url: string): Promise<void> {
    const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: { n: String(events.length) } };
    events.push(String((await ask(url, `/archivist/v2/${asset}/events`, body))['identity']));
  }

  async function die(failpoint: string, dying: ServiceProcess): Promise<void> {
    expect([failpoint, await dying.ended]).toEqual([failpoint, 'SIGKILL']);
    await deployment.expireLeases();
  }

  /** Every event has one anchor, every anchor is found again, and between them they cover each event once. */
  async function auditAnchors(url: string): Promise<void> {
    const anchors = new Map<string, Details>();
    const deadline = Date.now() + ANCHORED_MS;
    for (const event of events) {
      let listed: { transaction: { hash: string }; simple_hash_details: Details }[] = [];
      while (listed.length === 0 && Date.now() < deadline) {
        const { transactions } = await ask(url, `/archivist/v1alpha2/blockchain/${event}`);
        listed = transactions as typeof listed;
        if (listed.length === 0) await wait(200);
      }
      expect([event, listed.length]).toEqual([event, 1]);
      anchors.set(listed[0]!.transaction.hash, listed[0]!.simple_hash_details);
    }
    for (const { api_query: query, anchor_hash: hash, event_count: count } of anchors.values())
      expect(await recomputedAnchor(query.replace(PUBLIC_URL, url), token, 2)).toEqual({ hash, count });
    const covered = [...anchors.values()].reduce((sum, { event_count: count }) => sum + count, 0);
    expect(covered).toBe(events.length);
  }

  async function auditChain(url: string): Promise<void> {
    const node = await ask(url, '/archivist/v1/archivistnode');
    const height = Number((node['blockchain_nodes'] as { block_height: string }[])[0]!.block_height);
    let parent: Block | undefined;
    for (let number = 0; number <= height; number += 1) {
      const block = (await ask(url, `/archivist/v1/archivistnode/block?number=${number}`)) as unknown as Block;
      expect(hexData(blockHash(block))).toBe(block.hash);
      if (parent) expect(block.parentHash).toBe(parent.hash);
      parent = block;
    }
  }

  it.sequential.for(FAILPOINTS)(
    'killed at %s at work and again after the start: every event is anchored once, and the chain is one',
    { timeout: 240_000 },
    async (failpoint, { onTestFailed }) => {
      onTestFailed(() => console.error(clean.output()));
      await record(clean.url);
      await deployment.arm(failpoint);
      await die(failpoint, clean);
      await die(failpoint, deployment.spawn(environment));
      await deployment.arm(undefined);
      clean = await deployment.start(environment);
      await record(clean.url);
      await auditAnchors(clean.url);
      await auditChain(clean.url);
    },
  );
});
