import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCapture } from '../../plugins/capture/capture-operation.js';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import { namedOperation } from '../../plugins/operation/operation.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { eventually, freshVcon, type OpenBackend, openBackend, silent } from './plugin-rig.js';

const MOST_AT_ONCE = 8;

let open: OpenBackend;
beforeAll(async () => {
  open = await openBackend('embedded');
});
afterAll(() => open.close());

/** Captures through a queue that does not say that it is durable until it may. */
function captureBurst(placeMs: number) {
  const asked: string[] = [];
  const queue: QueueBackend['queue'] = (name) =>
    new Proxy(open.backend.queue(name), {
      get(target, member) {
        if (member === 'addBulk' || member === 'getJob') asked.push(member);
        return Reflect.get(target, member);
      },
    });
  let answer: () => void = () => undefined;
  const answers = new Promise<void>((done) => (answer = done));
  const { capture, close } = createCapture({
    backend: { ...open.backend, queue, confirmDurable: () => answers },
    memory: openMemory({ dataDir: open.folder, redisUrl: undefined }, silent),
    passages: undefined,
    withdrawn: new Set(),
    counted: () => undefined,
    doubled: () => undefined,
    logger: silent,
    placeMs,
  });
  const observe = createCaptureSequence({ now: () => Date.now() });
  return {
    /** Begins captures. Their time is up while this says so. */
    begin: (count: number, isUp: (index: number) => boolean = () => false) =>
      Array.from({ length: count }, async (_, index) => {
        const vcon = await vconFacts(Buffer.from(freshVcon()));
        const ended = {
          operation: namedOperation('vcon_sent'),
          vcon,
          method: 'receiver' as const,
          observed: observe(),
        };
        await capture(ended, { isOpen: () => !isUp(index), isRefused: () => false });
      }),
    times: (call: string) => asked.filter((each) => each === call).length,
    answer,
    close,
  };
}

it('a burst of captures does not use up its own time: a few ask the queue at once, and one whose time is up asks nothing', async () => {
  const { begin, times, answer, close } = captureBurst(60_000);
  const few = begin(MOST_AT_ONCE);
  await eventually(() => times('addBulk') === MOST_AT_ONCE);
  let timeIsUp = false;
  const late = begin(20, () => timeIsUp);
  const last = begin(1);
  await new Promise((wake) => setTimeout(wake, 200));
  expect([times('addBulk'), times('getJob')]).toEqual([MOST_AT_ONCE, 0]);

  timeIsUp = true;
  answer();
  for (const { status } of await Promise.allSettled(late)) expect(status).toBe('rejected');
  await Promise.all([...few, ...last]);
  expect([times('addBulk'), times('getJob')]).toEqual([MOST_AT_ONCE + 1, MOST_AT_ONCE + 1]);
  await close();
});

it('captures that the queue never answers do not stop those that come later', async () => {
  const { begin, times, answer, close } = captureBurst(50);
  const captures = begin(MOST_AT_ONCE + 1);
  await eventually(() => times('addBulk') === MOST_AT_ONCE + 1);
  answer();
  await Promise.all(captures);
  await close();
});
