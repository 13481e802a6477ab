import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { quorumGrace } from '../../../src/ledger/witnesses/quorum-grace.js';
import { WitnessRefused } from '../../../src/ledger/witnesses/witness.js';

const LONG_MS = 60_000;
const LATE = new WitnessRefused('it did not answer within 20 ms after the others had decided the round');
let grace: ReturnType<typeof quorumGrace>;

const cosigns = (afterMs = 0) => grace.answerOf(sleep(afterMs, 'line'));
const refuses = () => grace.answerOf(Promise.reject(new WitnessRefused('it answered 500')));
const hangs = () => grace.answerOf(new Promise(() => undefined));

afterEach(() => grace.close());

it('gives up a witness that hangs when a quorum has cosigned and the grace has ended', async () => {
  grace = quorumGrace(3, 2, 20);
  const [hanging] = [hangs(), cosigns(), cosigns()];
  await expect(hanging).rejects.toThrow(LATE);
});

it('gives it up too when a quorum is out of reach', async () => {
  grace = quorumGrace(3, 2, 20);
  const [hanging, ...others] = [hangs(), refuses(), refuses()];
  await Promise.allSettled(others);
  await expect(hanging).rejects.toThrow(LATE);
});

it('takes the cosignature of a witness that answers within the grace', async () => {
  grace = quorumGrace(2, 1, LONG_MS);
  expect(await Promise.all([cosigns(30), cosigns()])).toEqual(['line', 'line']);
});

it('waits for a witness that makes up the quorum, however many others have refused or cosigned', async () => {
  grace = quorumGrace(3, 2, 1);
  const [last, first, refused] = [cosigns(60), cosigns(), refuses()];
  await expect(refused).rejects.toThrow('it answered 500');
  expect(await Promise.all([first, last])).toEqual(['line', 'line']);
});

it('never ends without a quorum to reach: each witness has its own time', async () => {
  grace = quorumGrace(2, Number.POSITIVE_INFINITY, 1);
  const [last, first] = [cosigns(60), cosigns()];
  expect(await Promise.all([first, last])).toEqual(['line', 'line']);
});
