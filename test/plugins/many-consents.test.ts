import type { Job, Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerWindow, answerWithin } from '../../plugins/capture/answer-window.js';
import { createCapture } from '../../plugins/capture/capture-operation.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import { namedOperation } from '../../plugins/operation/operation.js';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { ENGINES, eventually, freshVcon, type OpenBackend, openBackend, silent } from './plugin-rig.js';

const consents = (count: number) =>
  Array.from({ length: count }, (_, party) => ({
    type: 'lawful_basis',
    party,
    body: { lawful_basis: 'consent', purpose_grants: [{ purpose: 'recording', granted: true }] },
  }));

describe.each(ENGINES)('a vCon with many consents, on %s', (engine) => {
  let open: OpenBackend;
  let memory: Memory;
  const observe = createCaptureSequence({ now: () => Date.now() });

  beforeAll(async () => {
    open = await openBackend(engine);
  });
  beforeEach(() => {
    const redisUrl = engine === 'Redis' ? ownRedisUrl('plugin') : undefined;
    memory = openMemory({ dataDir: open.folder, redisUrl }, silent);
  });
  afterEach(async () => {
    await memory.close();
    await open.empty();
  });
  afterAll(() => open.close());

  const queue = () => open.backend.queue(OPERATION_QUEUE);
  const inQueue = () => queue().getJobCountByTypes('waiting', 'delayed', 'active', 'failed');
  const capture = async (
    count: number,
    window: AnswerWindow,
    used: Pick<Queue, 'add' | 'addBulk' | 'getJob'> = queue(),
  ) => {
    const backend = { ...open.backend, queue: () => used as Queue };
    const { capture: capturing } = createCapture({
      ...{ backend, memory, counted: () => undefined, doubled: () => undefined, passages: undefined },
      ...{ withdrawn: new Set<string>(), logger: silent },
    });
    const vcon = await vconFacts(Buffer.from(freshVcon({ attachments: consents(count) })));
    return capturing(
      { operation: namedOperation('vcon_created'), vcon, method: 'receiver', observed: observe() },
      window,
    );
  };

  it('puts nothing more into the queue once its window is closed, and takes out what it has put there', async () => {
    let addedLate = 0;
    const slow = (window: AnswerWindow): Queue =>
      new Proxy<Queue>(queue(), {
        get(target, member) {
          if (member !== 'add' && member !== 'addBulk') return Reflect.get(target, member);
          return async (...args: Parameters<Queue['add']>) => {
            if (!window.isOpen()) addedLate += 1;
            await new Promise((resume) => setTimeout(resume, 150));
            return (target[member] as Queue['add'])(...args) as Promise<Job>;
          };
        },
      });
    let ending: Promise<unknown> | undefined;
    const refused = answerWithin(
      { finalMs: 100, answerMs: 120 },
      (window) => {
        ending = capture(30, window, slow(window));
        return ending;
      },
      'too late',
    );
    // On a busy machine both limits pass at once, and either of them answers first.
    await expect(refused).rejects.toThrow(/too late|did not keep it in time/);
    await expect(ending).rejects.toThrow('in time');
    expect(await inQueue()).toBe(0);
    expect(addedLate).toBe(0);
  });

  it('is kept in as few round trips to the queue as one without any', async () => {
    const trips = async (count: number): Promise<number> => {
      let [asked, final] = [0, false];
      const counting = new Proxy<Queue>(queue(), {
        get(target, member) {
          if (!final && ['add', 'addBulk', 'getJob'].includes(String(member))) asked += 1;
          return Reflect.get(target, member);
        },
      });
      const window: AnswerWindow = {
        isOpen: () => true,
        // Asked last, when the capture is final.
        isRefused() {
          final = true;
          return false;
        },
      };
      await capture(count, window, counting);
      return asked;
    };
    expect(await trips(500)).toBe(await trips(0));
    await eventually(async () => (await queue().getJobCountByTypes('waiting')) === 502);
  });
});
