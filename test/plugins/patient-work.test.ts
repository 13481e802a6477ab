import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPatientWork } from '../../plugins/capture/patient-work.js';

const silent = pino({ level: 'silent' });

it('older work that fails after newer of its name has come is not done in its place', async () => {
  const work = createPatientWork('a test is not done', silent);
  const done: string[] = [];
  let fail: (error: Error) => void = () => undefined;
  let attempts = 0;
  const older = work.keepTrying('one', async () => {
    attempts += 1;
    if (attempts === 1) await new Promise<void>((_, failed) => (fail = failed));
    done.push('older');
  });
  await work.keepTrying('one', async () => void done.push('newer'));
  fail(new Error('full'));
  await older;
  await work.close();
  expect(done).toEqual(['newer']);
});

it('work that comes while older of its name is retried is not lost with it', async () => {
  const work = createPatientWork('a test is not done', silent);
  const done: string[] = [];
  let attempts = 0;
  let end: () => void = () => undefined;
  await work.keepTrying('one', async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('full');
    await new Promise<void>((ended) => (end = ended));
    done.push('older');
  });
  const closed = work.close();
  await expect.poll(() => attempts).toBe(2);
  await work.keepTrying('one', async () => void done.push('newer'));
  end();
  await closed;
  expect([done, work.waiting()]).toEqual([['older'], 1]);
});

it('work under a name waits until an attempt under it has ended, however long that takes', async () => {
  const work = createPatientWork('a test is not done', silent);
  const done: string[] = [];
  let fail: (error: Error) => void = () => undefined;
  const older = work.keepTrying('one', async () => {
    done.push('older');
    await new Promise<void>((_, failed) => (fail = failed));
  });
  await work.keepTrying('one', async () => void done.push('newer'));
  await wait(2_500);
  expect(done).toEqual(['older']);
  fail(new Error('full'));
  await older;
  await expect.poll(() => done, { timeout: 30_000 }).toEqual(['older', 'newer']);
  await work.close();
  expect(done).toEqual(['older', 'newer']);
});

it('of 100,000 pieces that wait no further one is kept: it is counted, and the log says so once', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const dropped: string[] = [];
  const work = createPatientWork('a test is not done', logger, () => void dropped.push('piece'));
  const full = new Error('full');
  const failing = () => Promise.reject(full);
  await Promise.all(Array.from({ length: 100_000 }, (_, name) => work.keepTrying(`${name}`, failing)));
  expect([dropped, lines]).toEqual([[], []]);
  for (const name of ['one more', 'another', '7']) await work.keepTrying(name, failing);
  expect([work.waiting(), dropped.length, lines.length]).toEqual([100_000, 2, 1]);
  await work.close();
});

it('work that failed is tried again at the close, one piece after the other, and what fails again is counted', async () => {
  const work = createPatientWork('a test is not done', silent);
  const done: string[] = [];
  let isFull = true;
  for (const name of ['one', 'two'])
    await work.keepTrying(name, async () => {
      if (isFull) throw new Error('full');
      done.push(name);
    });
  await work.keepTrying('three', () => Promise.reject(new Error('full')));
  expect([done, work.waiting()]).toEqual([[], 3]);
  isFull = false;
  await work.close();
  expect([done, work.waiting()]).toEqual([['one', 'two'], 1]);
});
