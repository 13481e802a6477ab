import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeployment, type Deployment, ENGINES } from './deployment.js';
import { Follower } from './follower.js';
import { Journal, until } from './journal.js';
import { runCommand } from './run-command.js';

/** One private log, one public one, and the statement log of each. */
const LOGS = 4;

/** Runs `vcon-archivist logs` as the operator. */
async function logs(deployment: Deployment, url: string, ...more: string[]): Promise<{ code: number; out: string }> {
  const { code, out, err } = await runCommand(deployment, ['logs', ...more, '--url', url]);
  return { code, out: out + err };
}

describe.each(ENGINES)('on %s', (engine) => {
  let deployment: Deployment;
  beforeEach(async () => {
    deployment = await createDeployment(engine);
  });
  afterEach(() => deployment?.close());

  it('an object store whose volume is not mounted halts no log and is given nothing; no service starts on it, and once it is mounted the running one goes on', async () => {
    const { objectsDir } = deployment;
    const unmount = async () => {
      await rename(objectsDir, `${objectsDir}-volume`);
      await mkdir(objectsDir);
    };
    const mount = async () => {
      const left = await readdir(objectsDir, { recursive: true, withFileTypes: true });
      await rm(objectsDir, { recursive: true });
      await rename(`${objectsDir}-volume`, objectsDir);
      return left.filter((entry) => entry.isFile()).map(({ name }) => name);
    };
    const running = await deployment.start();
    const journal = await Journal.begin(running.url);
    const follower = new Follower(deployment, journal);
    await journal.sendMany(running.url, 6);
    await follower.audit(running.url);
    await unmount();
    await journal.sendMany(running.url, 6);
    const { json } = await until(
      () => journal.get(running.url, '/readyz'),
      (answer) => /^fails/.test((answer.json['checks'] as Record<string, string>)['object_store']!),
    );
    expect(json).toMatchObject({ ready: true, halted_logs: [] });
    expect(await mount()).toEqual([]);
    await follower.audit(running.url);
    await running.stop();
    await unmount();
    const refused = deployment.spawn();
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toMatch(
      /^vcon-archivist could not start: OBJECT_STORE_URL has no key-manifests\/\S+, which /,
    );
    expect(await mount()).toEqual([]);
  }, 180_000);

  it('an object store that lacks what was published halts the logs at the start; once it is back, each log resumes', async () => {
    const first = await deployment.start();
    const journal = await Journal.begin(first.url);
    await journal.sendMany(first.url, 6);
    await new Follower(deployment, journal).audit(first.url);
    await first.stop();
    const aside = `${deployment.objectsDir}-aside`;
    await rename(join(deployment.objectsDir, 'seals'), aside);
    const halted = await deployment.start();
    expect((await journal.get(halted.url, '/readyz')).status).toBe(503);
    expect((await logs(deployment, halted.url)).out).toContain('the object store lacks seals that were published');
    await rm(join(deployment.objectsDir, 'seals'), { recursive: true, force: true });
    await rename(aside, join(deployment.objectsDir, 'seals'));

    const { json } = await journal.get(halted.url, '/readyz');
    for (const { log } of json['halted_logs'] as { log: string }[])
      expect(await logs(deployment, halted.url, 'resume', log)).toMatchObject({ code: 0 });
    expect((await journal.get(halted.url, '/readyz')).json).toMatchObject({ ready: true, halted_logs: [] });
    await journal.sendMany(halted.url, 3);
    for (const { read } of journal.acknowledged)
      await until(
        () => journal.get(halted.url, read!),
        ({ json }) => json['confirmation_status'] === 'CONFIRMED',
      );
    await halted.stop();
  }, 180_000);

  it('a database restored from an older copy, beside the newer object store, halts its logs at the start, says so, and signs nothing', async () => {
    const first = await deployment.start();
    const journal = await Journal.begin(first.url);
    const follower = new Follower(deployment, journal);
    await journal.sendMany(first.url, 6);
    await follower.audit(first.url);
    await first.stop();
    const restore = await deployment.backUp();
    const second = await deployment.start();
    await journal.sendMany(second.url, 6);
    await follower.audit(second.url);
    await second.stop();
    const seals = await follower.auditSealObjects();

    await restore();
    const restored = await deployment.start();
    // Before any write: at the start.
    const ready = await journal.get(restored.url, '/readyz');
    expect(ready.status).toBe(503);
    expect(ready.json).toMatchObject({ ready: false, checks: { logs: expect.stringContaining(`${LOGS} HALTED`) } });
    const listed = ready.json['halted_logs'] as { log: string; kind: string }[];
    expect(listed.map(({ kind }) => kind).sort()).toEqual([
      'private statements',
      'public events',
      'public statements',
      'tenancy',
    ]);
    const halts = restored.logLines().filter(({ msg }) => `${msg}`.startsWith('the log is halted'));
    expect(halts).toHaveLength(LOGS);
    for (const { level, reason } of halts) {
      expect(level).toBe(60);
      expect(reason).toMatch(/^the object store has seal \d+: the database is older than what was published$/);
    }

    // The command line explains each log by its evidence, and resumes none.
    const told = await logs(deployment, restored.url);
    expect(told.out).toContain(`5 logs, ${LOGS} halted`);
    expect(told.out.match(/database {6}seal \d+, \d+ leaves\n {2}object store {2}seal \d+, \d+ leaves/g)).toHaveLength(
      LOGS,
    );
    expect(told.out).toContain('bring the newer database back');
    const refused = await logs(deployment, restored.url, 'resume', listed[0]!.log);
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('restore another copy of the database') });

    // Nothing that would be lost with this copy is acknowledged; what was there is read.
    expect(await journal.send(restored.url)).toBe(false);
    for (const { read } of journal.acknowledged.slice(0, 6))
      expect((await journal.get(restored.url, read!)).status).toBe(200);
    await restored.stop();
    expect(await follower.auditSealObjects()).toBe(seals);
  }, 180_000);
});
