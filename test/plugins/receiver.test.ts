import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { BODY_LIMITS } from '../../plugins/receiver/read-body.js';
import { startConserverLink } from '../../plugins/start/start-conserver-link.js';
import { readJson } from '../../src/core/vcon/json-document.js';
import { pythonJson } from '../../src/core/vcon/python-json.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { fixture, sharedVectors } from '../core/event/known-answers.js';
import { unwatchedDisk } from '../support/unwatched-disk.js';
import { ENGINES, freshVcon, type OpenBackend, openBackend, type Rig, report, silent, startRig } from './plugin-rig.js';

const TARGET = '/operations/vcon_created?chain=main&link=evidence_created';
const SECRET = 'a-secret-of-the-test';
/** The plugin gives up after two seconds at most; a busy machine may add its own. What is wrong hangs for ever. */
const IN_TIME = 10_000;

interface HashCase {
  readonly name: string;
  readonly input_text: string;
  readonly sha256_plain: string;
  readonly dumps_read?: string;
  readonly sha256_read?: string;
}

const OWN = fixture('vcon/hashes.json') as HashCase[];
const published = (sharedVectors('vcon-hash.json') as { vectors: HashCase[] } | undefined)?.vectors ?? [];
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

/** Sends what it is told over a plain connection; resolves with what came back and how long the peer kept it open. */
function raw(url: string, send: (socket: Socket) => void): Promise<{ received: string; openMs: number }> {
  return new Promise((resolve) => {
    const begun = Date.now();
    let received = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => send(socket));
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve({ received, openMs: Date.now() - begun }));
  });
}

describe.each(ENGINES)('the receiver, queue on %s', (engine) => {
  let open: OpenBackend;
  let rig: Rig;

  beforeAll(async () => {
    open = await openBackend(engine);
  });
  afterEach(async () => {
    await rig.close();
    await open.empty();
  });
  afterAll(() => open.close());

  const start = async (changed?: Parameters<typeof startRig>[1]) => {
    rig = await startRig(open.backend, { pace: { firstMs: 60_000, mostMs: 60_000 }, ...changed });
    rig.archivist.always('event', { status: 503 });
  };
  const jobs = () => open.backend.queue(OPERATION_QUEUE).getJobs(['waiting', 'active', 'delayed', 'failed']);
  const capture = (body: Uint8Array | string, target = TARGET) => report(rig.url + target, body);
  const attributesOf = async (job: string): Promise<Record<string, string>> =>
    (await open.backend.queue(OPERATION_QUEUE).getJob(job))!.data.attributes;
  const refused = (answer: Promise<Response>) => expect(answer).rejects.toThrow(/fetch failed/);

  it('hashes what a conserver sends to the conserver’s own hash', async () => {
    await start();
    for (const known of [...OWN, ...published]) {
      const { payload, job } = await capture(pythonJson(readJson(Buffer.from(known.input_text)).value));
      expect([known.name, payload]).toEqual([known.name, known.sha256_plain]);
      expect((await attributesOf(job))['payload']).toBe(payload);
      if (known.dumps_read) expect((await capture(known.dumps_read)).payload).toBe(known.sha256_read);
    }
  });

  it('makes one job of an operation that is reported twice, and another of another one', async () => {
    await start();
    const vcon = freshVcon();
    const [first, second] = await Promise.all([capture(vcon), capture(vcon)]);
    expect(second).toEqual(first);
    const others = [
      await capture(vcon, '/operations/vcon_created?chain=other&link=evidence_created'),
      await capture(vcon, '/operations/vcon_created?chain=main&link=other'),
      await capture(vcon, '/operations/vcon_sent?chain=main&link=evidence_created'),
      await capture(vcon, `${TARGET}&nonce=2`),
      await capture(`${vcon} `),
    ];
    expect(new Set([first, ...others].map(({ job }) => job)).size).toBe(6);
    expect(await jobs()).toHaveLength(6);
  });

  it('keeps vCons of every form, and what is none', async () => {
    await start();
    const file = (name: string) => readFileSync(new URL(`../../fixtures/vcon/${name}.vcon.json`, import.meta.url));
    const bodies: [Uint8Array | string, string][] = [
      [file('call'), 'unsigned'],
      [file('signed-call'), 'signed'],
      [JSON.stringify({ ciphertext: 'AA', recipients: [], unprotected: {} }), 'encrypted'],
      ['{"uuid": "not one"}', 'malformed'],
      ['no JSON at all', 'malformed'],
      [Uint8Array.of(0xff, 0x00, 0xfe), 'malformed'],
      ['', 'malformed'],
    ];
    for (const [body, form] of bodies) {
      const { job, payload, subject } = await capture(body);
      expect(payload).toBe(sha256(body));
      expect(await attributesOf(job)).toMatchObject({ vcon_form: form, subject, payload });
    }
  });

  it('takes a vCon of 20 MB and refuses one above the limit', async () => {
    await start();
    const large = Buffer.from(freshVcon({ dialog: [{ type: 'recording', body: 'QUJD'.repeat(5 * 1024 * 1024) }] }));
    expect((await capture(large)).payload).toBe(sha256(large));
    await refused(rig.post(TARGET, Buffer.alloc(BODY_LIMITS.bodyBytes + 1, 0x20)));
    const head = `POST ${TARGET} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
    const chunk = `${(1024 * 1024).toString(16)}\r\n${' '.repeat(1024 * 1024)}\r\n`;
    const { received } = await raw(rig.url, (socket) => {
      socket.write(head);
      for (let count = 0; count < 65; count++) socket.write(chunk);
    });
    expect(received).toBe('');
    expect(await jobs()).toHaveLength(1);
  }, 180_000);

  it('drops a connection whose body is cut off or stops coming, and keeps nothing of it', async () => {
    await start();
    const head = `POST ${TARGET} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"uuid":`;
    expect((await raw(rig.url, (socket) => void socket.end(head))).received).not.toContain('HTTP/1.1 202');
    const silentBody = await raw(rig.url, (socket) => void socket.write(head));
    expect(silentBody.received).toBe('');
    expect(silentBody.openMs).toBeLessThan(IN_TIME);
    expect(await jobs()).toHaveLength(0);
  });

  it('answers no status to a request that is too slow, too long or no HTTP: a conserver would go on', async () => {
    await start();
    const post = `POST ${TARGET} HTTP/1.1\r\nhost: x\r\n`;
    const requests = [
      '',
      'POST /oper',
      `${post}x-slow: `,
      `${post}x-long: ${'x'.repeat(70_000)}\r\n\r\n`,
      'no HTTP\r\n\r\n',
    ];
    const chunked = `${post}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nno length\r\n`;
    for (const request of [...requests, chunked]) {
      const { received, openMs } = await raw(rig.url, (socket) => void socket.write(request));
      expect([request.slice(0, 80), received]).toEqual([request.slice(0, 80), '']);
      expect(openMs).toBeLessThan(IN_TIME);
    }
    expect(await jobs()).toHaveLength(0);
  });

  it('drops the connection when the secret is missing or wrong, and takes the right one', async () => {
    await start({ settings: { secret: SECRET } });
    const vcon = freshVcon();
    await refused(rig.post(TARGET, vcon));
    for (const authorization of [`Bearer ${SECRET}x`, `Basic ${SECRET}`, SECRET, 'Bearer'])
      await refused(rig.post(TARGET, vcon, { authorization }));
    expect(await jobs()).toHaveLength(0);
    expect((await rig.post(TARGET, vcon, { authorization: `Bearer ${SECRET}` })).status).toBe(202);
  });

  it('drops the connection when the URL names no operation, the method is another, or a web page asks', async () => {
    await start();
    const targets = [
      '/',
      '/operations',
      '/operations/',
      '/operations/a/b',
      '/operations/a%20b',
      '/operations/x'.padEnd(90, 'x'),
    ];
    const queries = ['tenancy=a b', 'tenancy=unknown', `tenancy=${'x'.repeat(65)}`];
    for (const target of [...targets, ...queries.map((query) => `/operations/vcon_created?${query}`)])
      await refused(rig.post(target, freshVcon()));
    await refused(fetch(rig.url + TARGET, { method: 'PUT', body: '{}' }));
    await refused(rig.post(TARGET, freshVcon(), { origin: 'https://page.example' }));
    expect(await jobs()).toHaveLength(0);
    expect(await rig.registry.metrics()).toContain('conserver_link_operations_total{outcome="refused"} 11');
  });

  it('answers health and metrics', async () => {
    await start();
    await capture(freshVcon());
    expect((await fetch(`${rig.url}/healthz`)).status).toBe(200);
    const metrics = await (await fetch(`${rig.url}/metrics`)).text();
    for (const name of ['queue_depth 1', 'oldest_seconds', 'dead_letters 0', 'operations_total{outcome="captured"} 1'])
      expect(metrics).toContain(`conserver_link_${name}`);
  });

  it('names its paths to whoever asks for another', async () => {
    await start();
    const other = await fetch(`${rig.url}/operation/vcon_created`);
    expect([other.status, await other.text()]).toEqual([404, expect.stringContaining('POST /operations/')]);
  });

  it('listens on loopback only without a secret', async () => {
    await start();
    expect(new URL(rig.url).hostname).toBe('127.0.0.1');
    await expect(startRig(open.backend, { settings: { host: '0.0.0.0' } })).rejects.toThrow(/PLUGIN_SECRET/);
  });

  it.each([
    ['hangs', () => new Promise<void>(() => undefined)],
    ['cannot promise durability', () => Promise.reject(new Error('no append-only file'))],
  ])('drops the connection within two seconds when the queue %s', async (_, confirmDurable) => {
    await start();
    const broken: QueueBackend = { ...open.backend, confirmDurable };
    const settings = { archivistUrl: rig.archivist.url, clientId: 'a', clientSecret: 'b', host: '127.0.0.1', port: 0 };
    const link = await startConserverLink({
      disk: unwatchedDisk(),
      settings,
      keeps: { dataDir: open.folder, redisUrl: undefined },
      backend: broken,
      logger: silent,
      clock: { now: () => Date.now() },
    });
    const vcon = freshVcon();
    const head = `POST ${TARGET} HTTP/1.1\r\nhost: x\r\ncontent-length: ${vcon.length}\r\n\r\n${vcon}`;
    const { received, openMs } = await raw(link.url, (socket) => void socket.write(head));
    expect(received).toBe('');
    expect(openMs).toBeLessThan(IN_TIME);
    await link.close();
  });
});

describe('the receiver without its queue', () => {
  it('drops the connection within two seconds when the database has gone', async () => {
    const open = await openBackend('embedded');
    const rig = await startRig(open.backend);
    expect((await rig.post(TARGET, freshVcon())).status).toBe(202);
    await open.close();
    const vcon = freshVcon();
    const head = `POST ${TARGET} HTTP/1.1\r\nhost: x\r\ncontent-length: ${vcon.length}\r\n\r\n${vcon}`;
    const { received, openMs } = await raw(rig.url, (socket) => void socket.write(head));
    expect(received).toBe('');
    expect(openMs).toBeLessThan(IN_TIME);
    expect((await fetch(`${rig.url}/healthz`)).status).toBe(503);
    await rig.close();
  });
});
