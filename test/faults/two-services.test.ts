import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import { serverUrl } from '../support/prerequisites.js';
import { createDeployment, type Deployment, type RunningProcess, requestToken } from './deployment.js';
import { Follower } from './follower.js';
import { Journal, until } from './journal.js';

/** In this time a process has sent a commit, also on a busy machine. */
const COMMIT_SENT_MS = 2_000;
/** Seven services start beside each other, also on a busy machine. */
const WITHIN_MS = 400_000;

describe.skipIf(!serverUrl).concurrent('two services on one PostgreSQL', () => {
  interface Pair {
    readonly deployment: Deployment;
    readonly journal: Journal;
    readonly follower: Follower;
    readonly first: RunningProcess;
    /** The second service starts only when it is asked for, so that the first one has the logs. */
    second(): Promise<RunningProcess>;
  }

  /** Sends a few events, and again what was not answered, as a client does: it may be recorded, and is counted. */
  async function send(journal: Journal, url: string): Promise<void> {
    await journal.sendMany(url, 6);
    await journal.sendAgain(url, 0);
  }

  async function pair({ onTestFinished }: TestContext): Promise<Pair> {
    const deployment = await createDeployment('PostgreSQL');
    onTestFinished(() => deployment.close());
    const first = await deployment.start({}, 'first');
    const journal = await Journal.begin(first.url);
    await send(journal, first.url);
    const follower = new Follower(deployment, journal);
    await follower.audit(first.url);
    return { deployment, journal, follower, first, second: () => deployment.start({}, 'second') };
  }

  /** Posts, and waits until a sequencer is held up where it writes a table, with its commit sent. */
  async function holdUp({ deployment, journal, first }: Pair, table: string) {
    const blocker = await deployment.connect();
    await blocker.query('BEGIN');
    await blocker.query(`LOCK TABLE archivist.${table} IN SHARE ROW EXCLUSIVE MODE`);
    await send(journal, first.url);
    await until(
      () =>
        deployment.owner(
          `SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ $1`,
          [`(INSERT INTO|UPDATE) archivist\\.${table} `],
        ),
      (waiting) => waiting.length > 0,
    );
    // Its commit follows the held statements when the batch is checked: stopped before, it would store nothing.
    await wait(COMMIT_SENT_MS);
    return async () => {
      await blocker.query('ROLLBACK');
      await blocker.end();
    };
  }

  it.for<readonly [string, string]>([
    ['commit', 'node_page'],
    ['seal', 'seal'],
  ])(
    'of which one is stopped past its lease in mid-%s: the other goes on, and what the first then does changes nothing',
    { timeout: WITHIN_MS },
    async ([, table], context) => {
      const rig = await pair(context);
      const { deployment, journal, follower, first } = rig;
      const release = await holdUp(rig, table);
      first.signal('SIGSTOP');
      await release();
      const second = await rig.second();
      await send(journal, second.url);
      await follower.audit(second.url);
      const before = await deployment.owner('SELECT log_id, seal_number, size FROM archivist.log ORDER BY log_id');
      first.signal('SIGCONT');
      const lost = /another sequencer has taken the log over|a round failed/;
      await until(
        async () => first.output(),
        (output) => lost.test(output),
      );
      expect(await deployment.owner('SELECT log_id, seal_number, size FROM archivist.log ORDER BY log_id')).toEqual(
        before,
      );
      await send(journal, first.url);
      await send(journal, second.url);
      await follower.audit(first.url);
      await follower.audit(second.url);
    },
  );

  it(
    'of which one has a log: the other waits, and goes on when the first is killed',
    async (context) => {
      const rig = await pair(context);
      const { deployment, journal, follower, first } = rig;
      const release = await holdUp(rig, 'leaf');
      first.signal('SIGSTOP');
      await release();
      const held = () =>
        deployment.owner(
          `SELECT log_id, lease_holder, lease_epoch, seal_number, published_number FROM archivist.log
          WHERE lease_until > clock_timestamp() + interval '5 minutes' ORDER BY log_id`,
        );
      // Nothing renews its lease, and on a busy machine another process takes longer to start.
      const before = await until(
        async () => {
          await deployment.owner(
            `UPDATE archivist.log SET lease_until = clock_timestamp() + interval '15 minutes'
            WHERE published_number < seal_number`,
          );
          return held();
        },
        (leases) => leases.length > 0,
      );
      const second = await rig.second();
      await send(journal, second.url);
      expect(await held()).toEqual(expect.arrayContaining(before));
      await first.kill();
      await deployment.expireLeases();
      await follower.audit(second.url);
      const holders = await deployment.owner(`SELECT lease_holder FROM archivist.log WHERE log_id = ANY ($1::uuid[])`, [
        before.map((lease) => lease['log_id']),
      ]);
      expect(holders.map((lease) => lease['lease_holder'])).not.toContain(before[0]!['lease_holder']);
    },
    WITHIN_MS,
  );

  it(
    'that start together on an empty database make one deployment, and each takes the tokens of the other',
    async ({ onTestFinished }) => {
      const deployment = await createDeployment('PostgreSQL');
      onTestFinished(() => deployment.close());
      const [first, second] = await Promise.all([deployment.start({}, 'first'), deployment.start({}, 'second')]);
      const journal = await Journal.begin(first.url);
      const other = await requestToken(second.url);
      const response = await fetch(`${first.url}/archivist/v2/assets`, {
        headers: { authorization: `Bearer ${other}` },
      });
      expect(response.status).toBe(200);
      let sent = 0;
      const enough = () => {
        sent += 1;
        return sent > 40;
      };
      await Promise.all([
        journal.stream(first.url, 2, { stopped: enough }),
        journal.stream(second.url, 2, { stopped: enough }),
      ]);
      await journal.sendAgain(first.url);
      const follower = new Follower(deployment, journal);
      await follower.audit(first.url);
      await follower.audit(second.url);
    },
    WITHIN_MS,
  );
});
