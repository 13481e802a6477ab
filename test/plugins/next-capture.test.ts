import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerWithin } from '../../plugins/capture/answer-window.js';
import { createCapture } from '../../plugins/capture/capture-operation.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { openMemory, reportingMemory } from '../../plugins/memory/open-memory.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import { namedOperation } from '../../plugins/operation/operation.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { createDiskWatch } from '../../src/platform/disk/disk-watch.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { freshVcon, type OpenBackend, openBackend, silent, startRig } from './plugin-rig.js';

let open: OpenBackend;
beforeAll(async () => {
  open = await openBackend('embedded');
});
afterAll(() => open.close());

it('a vCon is captured again while the Redis of the tap takes no note: the receiver does not refuse what the queue stores', async () => {
  const memory = openMemory({ dataDir: open.folder, redisUrl: undefined }, silent);
  const passages: Memory = { ...memory, write: () => Promise.reject(new Error('the conserver’s Redis is full')) };
  const withdrawn = new Set<string>();
  const counts = { counted: () => undefined, doubled: () => undefined };
  const { capture } = createCapture({ backend: open.backend, memory, passages, withdrawn, logger: silent, ...counts });
  const observe = createCaptureSequence({ now: () => Date.now() });
  const uuid = randomUUID();
  const receive = async (operation: string) => {
    const vcon = await vconFacts(Buffer.from(freshVcon({ uuid, analysis: [{ operation }] })));
    const ended = { operation: namedOperation(operation), vcon, method: 'receiver' as const, observed: observe() };
    // More than the receiver waits, for a slow machine, and less than the notes are retried.
    return answerWithin({ finalMs: 20_000, answerMs: 30_000 }, (window) => capture(ended, window), 'too late');
  };
  const [, second] = [await receive('vcon_created'), await receive('vcon_enhanced')];
  expect((await memory.read('vcons', uuid))['payload']).toBe(second.payload);
});

it('a caller whose time runs out while its operation becomes final has its answer at once: it is not refused for a slow memory', async () => {
  const memory = openMemory({ dataDir: open.folder, redisUrl: undefined }, silent);
  let remember: () => void = () => undefined;
  const remembered = new Promise<void>((done) => (remember = done));
  const slow: Memory = { ...memory, write: () => remembered };
  let isOpen = true;
  // The queue is slow too: the time is up when it has released the operation.
  const queue: QueueBackend['queue'] = (name) =>
    new Proxy(open.backend.queue(name), {
      get(target, member) {
        if (member === 'getJob') isOpen = false;
        return Reflect.get(target, member);
      },
    });
  const counts = { counted: () => undefined, doubled: () => undefined, withdrawn: new Set<string>() };
  const parts = { backend: { ...open.backend, queue }, memory: slow, passages: undefined, logger: silent, ...counts };
  const { capture, close } = createCapture({ ...parts, rememberWithinMs: 60_000 });
  const vcon = await vconFacts(Buffer.from(freshVcon()));
  const observed = createCaptureSequence({ now: () => Date.now() })();
  const ended = { operation: namedOperation('vcon_created'), vcon, method: 'receiver' as const, observed };
  const { payload } = await capture(ended, { isOpen: () => isOpen, isRefused: () => false });
  expect(payload).toBe(vcon.payload);
  remember();
  await close();
});

it('what cannot be remembered has a bound: beyond it captures are refused, not accepted and forgotten', async () => {
  const memory = openMemory({ dataDir: open.folder, redisUrl: undefined }, silent);
  let broken = true;
  const readOnly: Memory = {
    ...memory,
    write: (...change) => (broken ? Promise.reject(new Error('read-only file system')) : memory.write(...change)),
  };
  const counts = { counted: () => undefined, doubled: () => undefined, withdrawn: new Set<string>() };
  const parts = { backend: open.backend, memory: readOnly, passages: undefined, logger: silent, ...counts };
  const { capture, close } = createCapture({ ...parts, mostUnremembered: 2 });
  const observe = createCaptureSequence({ now: () => Date.now() });
  const receive = async () => {
    const vcon = await vconFacts(Buffer.from(freshVcon()));
    const ended = { operation: namedOperation('vcon_created'), vcon, method: 'receiver' as const, observed: observe() };
    return answerWithin({ finalMs: 20_000, answerMs: 30_000 }, (window) => capture(ended, window), 'too late');
  };
  await Promise.all([receive(), receive()]);
  await expect(receive()).rejects.toThrow('too many captured operations are not remembered');
  broken = false;
  await close();
  await receive();
});

it.each([false, true])(
  'while the disk is full on which the plugin remembers, every capture is refused, and health and metrics say why, not only the second of a vCon (open: %s)',
  async (failOpen) => {
    const memory = openMemory({ dataDir: open.folder, redisUrl: undefined }, silent);
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    // Time stands still: a report counts until the end.
    const disk = createDiskWatch({ folders: {}, reserveBytes: 0, now: () => 0, logger: silent });
    const rig = await startRig(open.backend, { disk, settings: { failOpen } });
    try {
      expect((await fetch(`${rig.url}/healthz`)).status).toBe(200);
      const remembering = reportingMemory({ ...memory, write: () => Promise.reject(full) }, disk);
      await expect(remembering.write('vcons', randomUUID(), { payload: 'x' })).rejects.toThrow('no space left');
      await expect(rig.post('/operations/vcon_created', freshVcon())).rejects.toThrow();
      const health = await fetch(`${rig.url}/healthz`);
      expect([health.status, await health.text()]).toEqual([503, expect.stringContaining('data folder')]);
      expect(await rig.registry.metrics()).toContain('conserver_link_disk_full{what="memory"} 1');
    } finally {
      await rig.close();
    }
  },
);
