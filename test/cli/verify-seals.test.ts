import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY } from '../core/verify/sample-transparent-statement.js';
import { verifyRig } from './verify-rig.js';

const NEW_NAME = 'https://moved.example';
const { file, verify, remove } = verifyRig('verify-seals');
const log = sampleSealedLog({ leaves: 8 });
const moved = sampleSealedLog({ leaves: 8, issuer: NEW_NAME });
const other = sampleSealedLog({ leaves: 8, subject: 'tenant/9f4b1d8a-0000-4000-8000-000000000000' });

afterAll(remove);

describe('a log that was sealed under two names of its service', () => {
  async function replica(place: string, newer: typeof log): Promise<string> {
    const base = `${place}/tenant/${SAMPLE_TENANCY}/0`;
    file(`${base}/massifs/0000000000000000.log`, log.massif(0, 4));
    file(`${base}/massifseals/0000000000000000.sth`, await log.seal(4));
    file(`${base}/massifs/0000000000000001.log`, log.massif(1, 8));
    return dirname(dirname(file(`${base}/massifseals/0000000000000001.sth`, await newer.seal(8))));
  }
  const single = async (newer: typeof log) => [
    file('m1.log', log.massif(1, 8)),
    file('older.sth', await log.seal(6)),
    file('newer.sth', await newer.seal(8)),
  ];
  const codes = async (...args: string[]) => {
    const { out, exitCode } = await verify('--json', ...args);
    const { contradictions } = JSON.parse(out) as { contradictions: { code: string; detail: string }[] };
    return [exitCode, ...contradictions.map(({ code }) => code)];
  };

  it('is one log, as a replica and as single files, and both names are shown', async () => {
    expect(await codes(await replica('moved', moved))).toEqual([0]);
    const { out, exitCode } = await verify(...(await single(moved)));
    expect(exitCode).toBe(0);
    for (const name of ['https://archive.example', NEW_NAME])
      expect(out).toMatch(new RegExp(`proven by +seal over .*log "tenant/${SAMPLE_TENANCY}" of ${name}, key`));
  });

  it('is refused under a pin of one of the names, which holds for every seal', async () => {
    for (const pin of ['https://archive.example', NEW_NAME]) {
      expect(await codes('--log-issuer', pin, await replica('moved', moved))).toEqual([1, 'log_mismatch']);
      expect(await codes('--log-issuer', pin, ...(await single(moved)))).toEqual([1, 'log_mismatch']);
    }
    expect(await codes('--log-issuer', NEW_NAME, ...(await single(log)))).toEqual([1, 'log_mismatch']);
  });

  it('is refused with the seal of another tenancy’s log over the same nodes, and the refusal names both', async () => {
    const { out, exitCode } = await verify(...(await single(other)));
    expect(exitCode).toBe(1);
    expect(out).toContain(
      `the seals belong to two logs, "tenant/9f4b1d8a-0000-4000-8000-000000000000" of "https://archive.example" and "tenant/${SAMPLE_TENANCY}" of "https://archive.example" [log_mismatch]`,
    );
  });

  it('is refused if no seal names a tenancy: then only the issuer tells logs apart', async () => {
    const nameless = (issuer: string) => sampleSealedLog({ leaves: 8, issuer, subject: 'a log' });
    const [one, two] = [nameless('https://archive.example'), nameless(NEW_NAME)];
    const older = file('nameless-older.sth', await one.seal(6));
    const files = async (newer: typeof log) => [
      file('m1.log', log.massif(1, 8)),
      older,
      file('n', await newer.seal(8)),
    ];
    expect(await codes(...(await files(one)))).toEqual([0]);
    expect(await codes(...(await files(two)))).toEqual([1, 'log_mismatch']);
  });
});

it('the order in which seals are given does not matter, also when a log sealed the same nodes twice', async () => {
  const massifs = [file('massif-0.log', log.massif(0)), file('massif-1.log', log.massif(1))];
  const [first, early, late] = [
    file('first.sth', await log.seal(6, 1_000)),
    file('early.sth', await log.seal(8, 2_000)),
    file('late.sth', await log.seal(8, 3_000)),
  ];
  const answers = [];
  for (const seals of [
    [first, early, late],
    [late, early, first],
    [early, late, first],
  ]) {
    const { out, exitCode } = await verify('--json', ...massifs, ...seals);
    const { claims } = JSON.parse(out) as { claims: { kind: string; facts: object; by: object[] }[] };
    answers.push({ exitCode, claims: claims.map(({ kind, facts, by }) => ({ kind, facts, by })) });
  }
  expect(answers[0]).toMatchObject({ exitCode: 0, claims: [{ kind: 'log' }, { kind: 'extension' }] });
  expect(answers.slice(1)).toEqual([answers[0], answers[0]]);
});
