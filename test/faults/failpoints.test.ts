import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest';
import { s3ServerPath } from '../support/prerequisites.js';
import { makeS3Server, type S3Server } from '../support/s3-server.js';
import { createDeployment, type Deployment, ENGINES, type RunningProcess } from './deployment.js';
import { Follower } from './follower.js';
import { Journal } from './journal.js';
import type { ServiceProcess } from './service-process.js';

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

/** In a bucket, only publication differs. */
const PLACES = [
  ...ENGINES.map((engine) => ({ engine, objects: 'a folder', failpoints: FAILPOINTS })),
  ...ENGINES.slice(-1).map((engine) => ({
    engine,
    objects: 'a bucket',
    failpoints: FAILPOINTS.filter((name) => /^publish\./.test(name)),
  })),
];

describe.each(PLACES)('on $engine, with objects in $objects', ({ engine, objects, failpoints }) => {
  let deployment: Deployment;
  let journal: Journal;
  let follower: Follower;
  let clean: RunningProcess;
  /** The process that was last to be killed. */
  let killed: ServiceProcess;
  let server: S3Server | undefined;
  let environment: Record<string, string>;
  beforeAll(async () => {
    if (objects === 'a bucket' && s3ServerPath) server = await makeS3Server();
    // The server keeps objects as files, which the follower reads.
    deployment = await createDeployment(engine, undefined, server && { objectsDir: server.folder('objects') });
    environment = { ...deployment.armable, ...(await server?.bucket('objects')) };
    clean = await deployment.start(environment);
    journal = await Journal.begin(clean.url);
    follower = new Follower(deployment, journal);
  });
  afterAll(async () => {
    await deployment?.close();
    await server?.remove();
  });
  beforeEach(({ skip }) => skip(objects === 'a bucket' && !s3ServerPath));

  /** Posts to a process and waits for its death at a point that it was armed with. */
  async function die(failpoint: string, dying: ServiceProcess, url: string | undefined): Promise<void> {
    killed = dying;
    // What waited for the logs may have been all there was: then only a new event leads to the place.
    if (url !== undefined) await journal.sendMany(url, EVENTS);
    expect([failpoint, await dying.ended]).toEqual([failpoint, 'SIGKILL']);
    await deployment.expireLeases();
  }

  it.each(failpoints)(
    'killed at %s at work and again after the start: all that was acknowledged is logged once, and all that was proven stays proven',
    async (failpoint) => {
      onTestFailed(() => console.error([killed, clean].map((each) => each.output()).join('\n---\n')));
      await deployment.arm(failpoint);
      await die(failpoint, clean, clean.url);
      const again = deployment.spawn(environment);
      await die(failpoint, again, await again.ready);
      await deployment.arm(undefined);
      clean = await deployment.start(environment);
      await journal.sendAgain(clean.url);
      await follower.audit(clean.url, LOOKED_AT_AGAIN);
    },
    180_000,
  );

  it('after all of that, every proof that was ever fetched is the same, byte for byte', async () => {
    await follower.audit(clean.url);
  }, 180_000);
});
