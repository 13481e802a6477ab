import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeployment, type Deployment, ENGINES } from './deployment.js';
import { Follower } from './follower.js';
import { Journal, until } from './journal.js';

/** One private log, one public one, and the statement log of each. */
const LOGS = 4;

describe.each(ENGINES)('on %s', (engine) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await createDeployment(engine);
  });
  afterAll(() => deployment?.close());

  it('a database restored from an older copy, beside the newer object store, halts its logs loudly and signs nothing', async () => {
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
    const later = await Journal.begin(restored.url);
    await later.sendMany(restored.url, 6);
    const halts = await until(
      async () => restored.logLines().filter(({ msg }) => msg === 'the log is halted'),
      (lines) => lines.length === LOGS,
    );
    for (const { level, reason } of halts) {
      expect(level).toBe(60);
      expect(reason).toMatch(/^the object store has seal \d+: the database is older than what was published$/);
    }
    const { json } = await later.get(restored.url, '/readyz');
    expect(JSON.stringify(json)).toContain(`${LOGS} logs halted`);
    await restored.stop();

    // Nor does a new start lead past it.
    const again = await deployment.start();
    await later.sendMany(again.url, 3);
    for (const { read } of later.acknowledged)
      expect((await later.get(again.url, read!)).json['confirmation_status']).toBe('STORED');
    await again.stop();
    expect(await follower.auditSealObjects()).toBe(seals);
  }, 180_000);
});
