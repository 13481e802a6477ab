import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import { startStreamConsumer } from '../../plugins/stream/stream-consumer.js';
import { startEgressTap } from '../../plugins/tap/egress-tap.js';
import { systemClock } from '../../src/platform/clock.js';
import { freePort } from '../support/free-port.js';
import { eventually } from './plugin-rig.js';

describe('what reads a Redis of the conserver that is away', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'away-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const notUsed = async () => {
    throw new Error('there is no entry');
  };

  it.each(['the stream', 'the tap list'])(
    '%s: names the variable to correct, and stops when it is asked to',
    async (name) => {
      const url = `redis://127.0.0.1:${await freePort()}`;
      const lines: string[] = [];
      const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
      const observe = createCaptureSequence(systemClock, () => false);
      const memory = openMemory({ dataDir: folder, redisUrl: undefined }, logger);
      const times = { clock: systemClock, clockIsWrong: () => false };
      const reader =
        name === 'the stream'
          ? await startStreamConsumer({
              ...{ url, stream: 'away', consumer: 'one', logger, ...times },
              ...{ capture: notUsed, ended: notUsed, refused: () => undefined },
            })
          : startEgressTap({ url, list: 'away', memory, observe, logger });
      // More than one attempt: a stop between two of them is the one that waited for ever.
      await eventually(async () => lines.filter((line) => line.includes('CONSERVER_REDIS_URL')).length > 2);
      await expect(reader.close()).resolves.toBeUndefined();
      await memory.close();
    },
  );
});
