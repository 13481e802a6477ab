import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerWithin } from '../../plugins/capture/answer-window.js';
import { createCapture } from '../../plugins/capture/capture-operation.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import { namedOperation } from '../../plugins/operation/operation.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { freshVcon, type OpenBackend, openBackend, silent } from './plugin-rig.js';

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
  const capture = createCapture({ backend: open.backend, memory, passages, withdrawn, logger: silent, ...counts });
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
