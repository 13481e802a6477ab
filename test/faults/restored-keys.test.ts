import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { decodeKeyManifests } from '../../src/core/keys/verify-key-manifests.js';
import { sha256 } from '../../src/core/sha256.js';
import { commandLine } from '../support/command-line.js';
import { createDeployment, type Deployment, ENGINES, type RunningProcess } from './deployment.js';
import { until } from './journal.js';

/** The newest engine serves: what is set back is rows and files, the same on each. */
const ENGINE = ENGINES.at(-1)!;
/** On a slow machine, a block would be made after the copy, and the chain would be halted, too. */
const NO_BLOCKS = { ANCHOR_SCHEDULE: '0 0 1 1 *' };

describe('a deployment whose database was restored from a copy older than its newest key manifest', () => {
  let deployment: Deployment;
  let restore: () => Promise<void>;
  let rotated: {
    readonly number: number;
    readonly hash: string;
    readonly fingerprint: string;
    readonly chainKey: string;
  };
  let first: Uint8Array;
  const keysDir = () => join(deployment.folder, 'keys');
  const rememberedFile = async () =>
    join(keysDir(), (await readdir(keysDir())).find((name) => name.startsWith('key-manifest-'))!);

  beforeAll(async () => {
    deployment = await createDeployment(ENGINE);
    const before = await deployment.start(NO_BLOCKS);
    first = new Uint8Array(await readFile(await rememberedFile()));
    await before.stop();
    restore = await deployment.backUp();
    const after = await deployment.start(NO_BLOCKS);
    // The command ends early on a slow machine, and then goes on where it was.
    await until(
      () => keys(after, 'rotate', 'chain'),
      ({ out }) => out.includes('retired'),
    );
    rotated = { ...(await published(after)), fingerprint: await fingerprint(after) };
    expect(rotated.number).toBe(3);
    await after.stop();
    await restore();
  }, 120_000);
  afterAll(() => deployment?.close());

  const keys = (running: RunningProcess, ...args: string[]) => command(running, 'keys', ...args);

  const command = ({ url }: Pick<RunningProcess, 'url'>, ...args: string[]) =>
    commandLine(args, {
      ...deployment.environment,
      KEYS_DIR: keysDir(),
      DATA_DIR: join(deployment.folder, 'main'),
      OBJECT_STORE_URL: `file://${deployment.objectsDir}`,
      PUBLIC_URL: url,
    });

  const fingerprint = async (running: RunningProcess) =>
    /Root key \(.*\): (\S+)/.exec((await keys(running, 'list')).out)![1]!;

  async function published({ url }: RunningProcess): Promise<{ number: number; hash: string; chainKey: string }> {
    const answer = await fetch(`${url}/verifiabledata/keys/manifest`);
    const newest = decodeKeyManifests(new Uint8Array(await answer.arrayBuffer())).at(-1)!;
    const chain = newest.manifest.keys.find(({ role, state }) => role === 'chain' && state === 'active')!;
    return { number: newest.manifest.number, hash: toHex(sha256(newest.bytes)), chainKey: chain.keyId };
  }

  async function expectNewestAndFault(running: RunningProcess, fault: string): Promise<void> {
    const { fingerprint: root, ...newest } = rotated;
    expect(await published(running)).toEqual(newest);
    expect(await fingerprint(running)).toBe(root);
    const list = await until(
      async () => (await keys(running, 'list')).out,
      (text) => text.includes('FAULT'),
    );
    expect(list).toContain(fault);
    const ready = await (await fetch(`${running.url}/readyz`)).text();
    expect(ready).toContain('FAULTS');
  }

  it('goes on with the manifest that KEYS_DIR remembers, and says that the database was set back', async () => {
    const running = await deployment.start(NO_BLOCKS);
    await expectNewestAndFault(running, 'key manifest 3 is not in the database: it was rolled back');
    const refused = await keys(running, 'rotate', 'chain');
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('no key can be changed')]);
    expect((await published(running)).number).toBe(3);
    await running.stop();
  }, 60_000);

  it('takes the newest manifest from the object store if KEYS_DIR was set back too', async () => {
    await writeFile(await rememberedFile(), first);
    const running = await deployment.start(NO_BLOCKS);
    await expectNewestAndFault(running, 'key manifest 3 is not in the database: it was rolled back');
    await running.stop();
  }, 60_000);

  it('takes it from there too if KEYS_DIR lost the file, because the root key signed the older one', async () => {
    await rm(await rememberedFile());
    const running = await deployment.start(NO_BLOCKS);
    await expectNewestAndFault(running, 'key manifest 3 is not in the database: it was rolled back');
    await running.stop();
  }, 60_000);

  it('does not start while the private half of a key of the newest manifest is missing, names it, and starts when it is back', async () => {
    const half = join(keysDir(), `${rotated.chainKey}.pem`);
    await rename(half, `${half}.aside`);
    const process = deployment.spawn(NO_BLOCKS);
    expect(await process.ready).toBeUndefined();
    expect(process.output()).toContain(`The private half of the active key ${rotated.chainKey} is missing`);
    await rename(`${half}.aside`, half);
  }, 60_000);

  it('gets its keys log back from the object store as it was, and then serves and rotates keys again', async () => {
    const running = await deployment.start(NO_BLOCKS);
    type Logs = { logs: { identity: string; kind: string; halted: string }[] };
    const { logs } = JSON.parse((await command(running, 'logs', '--json')).out) as Logs;
    const keysLog = logs.find(({ kind }) => kind === 'key manifests')!;
    expect(keysLog.halted).toMatch(/older than what was published/);
    expect((await command(running, 'logs')).out).toContain('the database has lost key manifests');
    const reason = ['--reason', 'restored from an older copy', '--confirm', 'no'];
    expect((await command(running, 'logs', 'fork', '--all', ...reason)).err).toContain('the keys log is halted');
    const unknown = await command(running, 'logs', 'resume', 'logs/nope');
    expect([unknown.exitCode, unknown.err]).toEqual([2, 'error: there is no log logs/nope: see "vcon-archivist logs"']);
    const resumed = await command(running, 'logs', 'resume', keysLog.identity);
    expect([resumed.exitCode, resumed.out]).toEqual([0, expect.stringContaining('3 leaves')]);
    expect((await command(running, 'logs', 'resume', keysLog.identity)).err).toContain('not halted');
    await until(
      async () => (await keys(running, 'list')).out,
      (text) => !text.includes('FAULT'),
    );
    const halted = logs.filter((log) => log.halted !== '' && log.kind !== keysLog.kind);
    for (const { identity } of halted) {
      const { name } = JSON.parse((await command(running, 'logs', '--json')).out).logs.find(
        (log: { identity: string }) => log.identity === identity,
      );
      const fork = ['logs', 'fork', identity, '--reason', 'restored', '--confirm', name];
      expect(await command(running, ...fork)).toMatchObject({ exitCode: 0 });
    }
    await until(
      () => keys(running, 'rotate', 'chain'),
      ({ out }) => out.includes('retired'),
    );
    expect((await published(running)).number).toBe(5);
    await running.stop();
    const audited = await command(running, 'audit');
    expect([audited.exitCode, audited.out]).toEqual([0, expect.stringContaining('SOUND.')]);
  }, 180_000);

  it.runIf(ENGINE === 'PostgreSQL')(
    'makes no first manifest again when the database and KEYS_DIR lost theirs: it does not start',
    async () => {
      await rm(await rememberedFile());
      await deployment.owner('DELETE FROM archivist.key_manifest');
      const process = deployment.spawn(NO_BLOCKS);
      expect(await process.ready).toBeUndefined();
      expect(process.output()).toContain('the object store has another key manifest 1');
    },
    60_000,
  );
});
