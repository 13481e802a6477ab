import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ServiceKeys } from '../../plugins/archivist-client/archivist-client.js';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { listSetAside } from '../../plugins/operator/set-aside.js';
import { type KeptReceipt, RECEIPT_QUEUE, receiptName } from '../../plugins/receipts/receipt-job.js';
import { expectReceipt } from '../../plugins/receipts/receipt-worker.js';
import { verifyReceiptHome } from '../../plugins/receipts/verify-receipt-home.js';
import { type ConserverLink, startConserverLink } from '../../plugins/start/start-conserver-link.js';
import { readKeyDocument } from '../../src/core/index.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { unwatchedDisk } from '../support/unwatched-disk.js';
import { eventually, freshVcon, type OpenBackend, openBackend, report, silent } from './plugin-rig.js';

const UUID = '3f1c7a52-0d1e-4f0a-9a52-6d1e2f3a4b5c';

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe.each(redisUrl ? (['embedded', 'Redis'] as const) : (['embedded'] as const))(
  'receipts, queue on %s',
  (engine) => {
    let service: TestService;
    let open: OpenBackend;
    let link: ConserverLink;
    const posted: Posted[] = [];
    const refusals = [503];
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const status = refusals.shift() ?? 204;
      if (status === 204) posted.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(status).end();
    });
    const redis = engine === 'Redis' ? { redisUrl: ownRedisUrl('plugin') } : { redisUrl: undefined };

    beforeAll(async () => {
      service = await startTestService({ PLUGIN_PORT: '0' });
      open = await openBackend(engine);
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      const { clientId, clientSecret } = service.service.firstOwner!;
      const key = redis.redisUrl
        ? { conserverRedisUrl: redis.redisUrl, receiptKey: 'receipt:{uuid}:{hash}', receiptDays: 7 }
        : {};
      link = await startConserverLink({
        disk: unwatchedDisk(),
        settings: {
          archivistUrl: service.url,
          clientId,
          clientSecret,
          host: '127.0.0.1',
          port: 0,
          bulk: true,
          receipts: true,
          receiptUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/receipts`,
          ...key,
        },
        keeps: { dataDir: open.folder, ...redis },
        backend: open.backend,
        logger: silent,
        clock: { now: () => Date.now() },
        pace: { firstMs: 100, mostMs: 500 },
      });
    });
    afterAll(async () => {
      await link.close();
      await open.backend.queue(RECEIPT_QUEUE).obliterate({ force: true });
      await open.close();
      await service.close();
      receiver.closeAllConnections();
      receiver.close();
    });

    async function keys(): Promise<ServiceKeys> {
      const read = async (path: string) => readKeyDocument((await service.anonymous.get(path)).bytes);
      return {
        logKeys: await read('/.well-known/scitt-keys'),
        issuerKeys: await read('/archivist/v1/didweb/did.json'),
      };
    }

    it('come home after delivery, are checked, kept by vCon and hash, and handed on', async () => {
      const vcon = freshVcon();
      const names = ['vcon_created', 'vcon_enhanced'];
      const captured = await Promise.all(
        names.map((name) => report(`${link.url}/chains/main/operations/${name}`, vcon)),
      );
      const memory = openMemory({ dataDir: open.folder, ...redis }, silent);
      const name = receiptName(captured[0]!);
      await eventually(async () => Object.keys(await memory.read('receipts', name)).length === 2);
      await eventually(() => posted.length >= 2);
      const kept = await memory.read('receipts', name);
      for (const { job, subject, payload } of captured) {
        const receipt = JSON.parse(kept[job]!) as KeptReceipt;
        const bytes = Buffer.from(receipt.statement, 'base64');
        const expected = { event: receipt.event, subject, payload };
        await verifyReceiptHome(bytes, expected, await keys());
        await expect(verifyReceiptHome(bytes, { ...expected, payload: '00'.repeat(32) }, await keys())).rejects.toThrow(
          'another state',
        );
        await expect(
          verifyReceiptHome(bytes, { ...expected, event: 'assets/x/events/y' }, await keys()),
        ).rejects.toThrow('another event');
        const other = posted.find(({ body }) => body.equals(bytes))!;
        expect(other.headers).toMatchObject({ 'content-type': 'application/cose', 'x-vcon-payload': payload });
        if (redis.redisUrl) {
          const client = new Redis(redis.redisUrl);
          const set = await client.getBuffer(`receipt:${subject.slice(7)}:${payload}`);
          const left = await client.ttl(`receipt:${subject.slice(7)}:${payload}`);
          expect([left > 6 * 86_400, left <= 7 * 86_400]).toEqual([true, true]);
          expect(Object.values(kept).map((each) => (JSON.parse(each) as KeptReceipt).statement)).toContain(
            set!.toString('base64'),
          );
          client.disconnect();
        }
      }
      await memory.close();
      vi.stubEnv('REDIS_URL', redis.redisUrl ?? '');
      vi.stubEnv('DATA_DIR', open.folder);
      const [{ subject, payload }] = captured as [(typeof captured)[0]];
      const out = join(open.folder, 'receipt.cose');
      const receipt = (hash: string, ...more: string[]) =>
        commandLine(['plugin', 'receipt', subject.slice(7), hash, ...more]);
      expect(await receipt(payload, '--out', out)).toMatchObject({
        exitCode: 0,
        said: expect.stringContaining('vcon_enhanced'),
      });
      const files = captured.map(({ job }) => readFileSync(`${out}.${job.slice(0, 8)}`));
      expect(files.every((file) => posted.some(({ body }) => body.equals(file)))).toBe(true);
      const shown = await receipt(payload);
      expect([shown.exitCode, shown.said]).toEqual([
        0,
        expect.stringMatching(/^vcon_\w+ {2}assets\/.*\n {2}job \w+, verified /),
      ]);
      expect(shown.said).not.toContain('written to');
      expect(await receipt('00'.repeat(32))).toMatchObject({ exitCode: 1 });
      vi.unstubAllEnvs();
    });

    it('that do not verify against the captured hash are not kept, not handed on, and shown to the operator', async () => {
      const { job, subject } = await report(`${link.url}/operations/vcon_created?chain=other`, freshVcon());
      const operations = open.backend.queue(OPERATION_QUEUE);
      await eventually(async () => (await operations.getJobState(job)) === 'completed');
      const event = (await operations.getJob(job))!.returnvalue as string;
      const memory = openMemory({ dataDir: open.folder, ...redis }, silent);
      const expected = { event, subject, payload: '00'.repeat(32) };
      const queue = open.backend.queue(RECEIPT_QUEUE);
      await expectReceipt(open.backend, 'vcon_created', 'of-another-hash', expected, false);
      await eventually(async () => (await queue.getJobState('of-another-hash')) === 'failed');
      expect(await memory.read('receipts', receiptName(expected))).toEqual({});
      expect(posted.filter(({ headers }) => headers['x-vcon-payload'] === expected.payload)).toEqual([]);
      const places = { backend: open.backend, spool: join(open.folder, 'none') };
      const { setAside } = await listSetAside(places, Date.now(), 20);
      const reason = 'the statement is about another vCon, or another state of it';
      expect(setAside).toContainEqual({ id: 'receipt:of-another-hash', reason });
      await memory.close();
    });

    let attempts = 0;
    it('are of events that were delivered in bulk, each once and under its own key', async () => {
      // Also a second attempt finds no other events of its chain.
      attempts += 1;
      const chain = `bulk${attempts}`;
      const vcons = Array.from({ length: 40 }, () => freshVcon());
      const target = `${link.url}/operations/vcon_sent?chain=${chain}`;
      const captured = await Promise.all(vcons.map((vcon) => report(target, vcon)));
      await Promise.all(vcons.map((vcon) => report(target, vcon)));
      const queue = open.backend.queue(OPERATION_QUEUE);
      for (const { job } of captured) await eventually(async () => (await queue.getJobState(job)) === 'completed');
      const path = `/archivist/v2/assets/-/events?event_attributes.conserver_chain=${chain}&page_size=100`;
      const { events } = (await service.owner.get(path)).json as {
        events: { event_attributes: Record<string, string> }[];
      };
      const subjects = events.map((event) => event.event_attributes['subject']);
      expect(subjects.sort()).toEqual(captured.map(({ subject }) => subject).sort());
    }, 180_000);
  },
);

it.each([
  ['text that is no UUID', 'not-a-uuid', 'ab'.repeat(32), '<uuid> must be the UUID of the vCon'],
  ['text that is no SHA-256', UUID, 'ab', '<hash> must be the SHA-256 of the vCon’s bytes: 64 hex digits'],
  [
    'a Redis that is away',
    UUID,
    'ab'.repeat(32),
    'the receipts cannot be read: Redis does not answer; check REDIS_URL',
  ],
])('plugin receipt says in one line that it was given %s', async (_what, uuid, hash, says) => {
  const { err, exitCode } = await commandLine(['plugin', 'receipt', uuid, hash], { REDIS_URL: 'redis://127.0.0.1:1' });
  expect([exitCode, err]).toEqual([1, expect.stringMatching(new RegExp(`^error: ${says}.*$`))]);
});
