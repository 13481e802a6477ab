import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { createDeployment, type Deployment, ENGINES, type RunningProcess } from './deployment.js';
import { Follower } from './follower.js';
import { Journal } from './journal.js';

/** Every place between two durable steps, from the first byte of an accept to the last of a publication. */
const FAILPOINTS = [
  'accept.before',
  'accept.after',
  'sign.before',
  'sign.inside',
  'sign.after',
  'commit.before',
  'commit.inside',
  'commit.after',
  'seal.before',
  'seal.signed',
  'seal.inside',
  'seal.after',
  'publish.before',
  'publish.numbered',
  'publish.files',
  'publish.inside',
  'publish.after',
];
const EVENTS = 3;
/** Events whose proofs are fetched again after each failpoint; at the end all are. */
const LOOKED_AT_AGAIN = 12;

describe.each(ENGINES)('on %s', (engine) => {
  let deployment: Deployment;
  let journal: Journal;
  let follower: Follower;
  let clean: RunningProcess;
  beforeAll(async () => {
    deployment = await createDeployment(engine);
    clean = await deployment.start();
    journal = await Journal.begin(clean.url);
    follower = new Follower(deployment, journal);
  });
  afterAll(() => deployment?.close());

  /** Starts the service, posts if it lives so long, and waits for its death. */
  async function die(failpoint: string): Promise<void> {
    await deployment.expireLeases();
    const dying = deployment.spawn({ ARCHIVIST_FAILPOINT: failpoint });
    const url = await dying.ready;
    // What waited for the logs may have been all there was: then only a new event leads to the place.
    if (url !== undefined) await journal.sendMany(url, EVENTS);
    expect([failpoint, await dying.ended]).toEqual([failpoint, 'SIGKILL']);
  }

  it.each(FAILPOINTS)(
    'killed twice at %s: all that was acknowledged is logged once, and all that was proven stays proven',
    async (failpoint) => {
      onTestFailed(() => console.error(clean.output()));
      await journal.sendMany(clean.url, EVENTS);
      await clean.kill();
      await die(failpoint);
      await die(failpoint);
      await deployment.expireLeases();
      clean = await deployment.start();
      await journal.sendAgain(clean.url);
      await follower.audit(clean.url, LOOKED_AT_AGAIN);
    },
    180_000,
  );

  it('after all of that, every proof that was ever fetched is the same, byte for byte', async () => {
    await follower.audit(clean.url);
  }, 180_000);
});
