import { execFileSync } from 'node:child_process';
import { access, cp, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddedCopyFolder, embeddedFolder } from '../../src/platform/postgres/open-database.js';
import { openEmbeddedOwner } from '../../src/platform/postgres/owner-connection.js';
import { createDeployment, type Deployment, ENGINES } from '../faults/deployment.js';
import { Journal, until } from '../faults/journal.js';
import { startBuilt } from '../support/built-program.js';
import { commandLine } from '../support/command-line.js';
import { onServer } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

/** Runs a command and resolves with its exit code and output. In this process: only those that are killed need their own. */
async function cli(environment: Record<string, string>, ...args: string[]) {
  const { exitCode: code, out, err } = await commandLine(args, { PORT: '1', ...environment });
  return { code, out, err };
}

/** Runs the command line until it opens this named pipe to read it for the n-th time, and kills it there. */
async function killedAt(pipe: string, times: number, environment: Record<string, string>, ...args: string[]) {
  execFileSync('mkfifo', [pipe]);
  const program = startBuilt('cli/vcon-archivist', { PORT: '1', ...environment }, args);
  const died = program.ended.then(() => {
    throw new Error(`it ended: ${program.written.out}${program.written.err}`);
  });
  died.catch(() => undefined);
  for (let time = 1; time <= times; time += 1) {
    const writer = await Promise.race([open(pipe, 'w'), died]);
    if (time < times) {
      await writer.close();
      // The reader must see the end before the pipe is opened again.
      await wait(1_000);
      continue;
    }
    program.signal('SIGKILL');
    expect(await program.ended).toBe('SIGKILL');
    await writer.close();
  }
  await rm(pipe);
}

/** Events that the deployment has when the first test ends. */
const SENT_TO_SOURCE = 12;

describe.each(ENGINES)('backup and restore on %s', { timeout: 300_000 }, (engine) => {
  let deployment: Deployment;
  let journal: Journal;
  let backup: string;
  let recipient: string;
  let source: Record<string, string>;
  const copies = async () => (await readdir(join(backup, 'copies'))).filter((name) => !name.startsWith('.')).sort();
  const databases: string[] = [];

  /** Waits until each of these events is under a published seal. */
  async function confirmed(url: string, entries: Journal['acknowledged']): Promise<void> {
    for (const { read } of entries)
      await until(
        async () => (await journal.get(url, read!)).json['confirmation_status'],
        (status) => status === 'CONFIRMED',
      );
  }

  /** An empty place: folders, and on a server an empty database. */
  async function emptyPlace(name: string, on: string = engine): Promise<Record<string, string>> {
    const folder = join(deployment.folder, name);
    const place = {
      DATA_DIR: join(folder, 'data'),
      KEYS_DIR: join(folder, 'keys'),
      OBJECT_STORE_URL: pathToFileURL(join(folder, 'objects')).href,
      PUBLIC_URL: 'http://archivist.example',
    };
    if (on === 'embedded') return place;
    const database = `restored_${name}_${process.pid}_${Date.now()}`;
    await onServer(serverUrl!, `CREATE DATABASE ${database}`);
    databases.push(database);
    return { ...place, DATABASE_URL: Object.assign(new URL(serverUrl!), { pathname: `/${database}` }).href };
  }

  beforeAll(async () => {
    deployment = await createDeployment(engine);
    backup = join(deployment.folder, 'backup');
    const identity = await generateX25519Identity();
    recipient = await identityToRecipient(identity);
    await writeFile(join(deployment.folder, 'identity.txt'), `# for a test\n${identity}\n`);
  });
  afterAll(async () => {
    await deployment?.close();
    for (const name of databases) await onServer(serverUrl!, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });

  it('copies a running service; a killed backup leaves no copy, and the next one adds only new objects', async () => {
    const service = await deployment.start();
    journal = await Journal.begin(service.url);
    await journal.sendMany(service.url, 6);
    source = {
      DATA_DIR: join(deployment.folder, 'main'),
      KEYS_DIR: join(deployment.folder, 'keys'),
      OBJECT_STORE_URL: pathToFileURL(deployment.objectsDir).href,
      PUBLIC_URL: service.url,
      ...(engine === 'embedded' ? {} : { DATABASE_URL: (await databaseUrl(deployment))! }),
    };
    // The credentials are read before the database, and again after the objects.
    await killedAt(
      join(source['DATA_DIR']!, 'credentials.json'),
      2,
      source,
      'backup',
      backup,
      '--recipient',
      recipient,
    );
    expect(await copies()).toEqual([]);

    const first = await cli(source, 'backup', backup, '--recipient', recipient, '--json');
    expect([first.err, first.code, first.code ? first.out : '']).toEqual(['', 0, '']);
    const made = JSON.parse(first.out) as { name: string; objects: { count: number }; missing: string[] };
    expect(made.missing).toEqual([]);
    expect(await copies()).toEqual([made.name]);
    // The service went on.
    await journal.sendMany(service.url, 6);
    await confirmed(service.url, journal.acknowledged);
    await service.stop();
    await wait(1_000);
    // A killed backup left it.
    const left = embeddedCopyFolder(source['DATA_DIR']!);
    await mkdir(left, { recursive: true });
    const second = await cli(source, 'backup', backup, '--recipient', recipient, '--json');
    expect([second.err, second.code, second.code ? second.out : '']).toEqual(['', 0, '']);
    const later = JSON.parse(second.out) as { objects: { count: number }; added_objects: number };
    expect(later.added_objects).toBe(later.objects.count - made.objects.count);
    expect(later.added_objects).toBeGreaterThan(0);
    if (engine === 'embedded') await expect(access(left)).rejects.toThrow('ENOENT');
    // No private key is readable in the folder.
    const sealed = await readFile(join(backup, 'copies', made.name, 'keys.zip.age'), 'latin1');
    expect(sealed).toMatch(/^age-encryption\.org\/v1\n-> X25519 /);
    expect(sealed).not.toContain('.pem');
  });

  it('is refused where its folder cannot be made, with the reason', async () => {
    const { code, err } = await cli(source, 'backup', join(deployment.folder, 'identity.txt/backup'), '--without-keys');
    expect([code, err]).toEqual([2, expect.stringMatching(/cannot write there: .*ENOTDIR.* that this user may write/)]);
  });

  it('is refused while another backup of the same database runs', async () => {
    const credentials = join(source['DATA_DIR']!, 'credentials.json');
    execFileSync('mkfifo', [credentials]);
    const first = startBuilt('cli/vcon-archivist', { PORT: '1', ...source }, [
      ...['backup', backup, '--recipient', recipient],
    ]);
    const reading = await open(credentials, 'w');
    const before = await copies();
    const second = await cli(source, 'backup', backup, '--without-keys');
    expect([second.code, second.err]).toEqual([
      2,
      expect.stringMatching(/another backup(, restore or move)? of this database/),
    ]);
    expect(await copies()).toEqual(before);
    first.signal('SIGKILL');
    await first.ended;
    await reading.close();
    await rm(credentials);
  });

  it('restores into an empty place; a restore that was killed is refused by the service and goes on', async () => {
    const place = await emptyPlace('again');
    const args = ['restore', backup, '--identity', join(deployment.folder, 'identity.txt')];
    const undecided = await cli(place, ...args);
    expect(undecided.code).toBe(2);
    expect(undecided.err).toMatch(
      /does not show whether anything was published after this copy.*--nothing-published-since/,
    );

    const decided = [...args, '--nothing-published-since'];
    const [log] = await readdir(join(backup, 'objects', 'key-manifests'));
    const object = join(backup, 'objects', 'key-manifests', log!, '0000000000000001');
    await rename(object, `${object}.aside`);
    await killedAt(object, 1, place, ...decided);
    await rename(`${object}.aside`, object);
    const refused = startBuilt('main', { PORT: '0', PLUGIN_PORT: '0', ...place });
    expect(await refused.ended).toBe(1);
    expect(refused.written.err).toMatch(/a restore into it has not finished: run "vcon-archivist restore" again/);

    const restored = await cli(place, ...decided);
    expect([restored.err, restored.code, restored.code ? restored.out : '']).toEqual(['', 0, '']);
    expect(restored.out).toMatch(/The audit found no fault\.\nThe service can start\./);
    const inUse = await cli(place, ...decided);
    expect(inUse.code).toBe(2);
    expect(inUse.err).toMatch(/in use by a deployment/);

    const service = await deployment.start(place);
    for (const { read } of journal.acknowledged) {
      const { status } = await journal.get(service.url, read!);
      expect([read, status]).toEqual([read, 200]);
    }
    // The logs go on where they were.
    const before = journal.acknowledged.length;
    await journal.sendMany(service.url, 3);
    await confirmed(service.url, journal.acknowledged.slice(before));
    await service.stop();
  });

  it('an older copy beside the newer object store names what is newer, and halts its logs', async () => {
    const [older] = await copies();
    const place = { ...(await emptyPlace('older')), OBJECT_STORE_URL: source['OBJECT_STORE_URL']! };
    const args = ['restore', backup, '--copy', older!, '--identity', join(deployment.folder, 'identity.txt'), '--json'];
    const { code, out, err } = await cli(place, ...args);
    expect([err, code, code === 3 ? '' : out]).toEqual(['', 3, '']);
    const { later_objects: later, halted, faults } = JSON.parse(out) as Record<string, object>;
    expect(faults).toEqual([]);
    expect(Object.values(later!)).toEqual(expect.arrayContaining([expect.stringMatching(/^seals\//)]));
    for (const reason of Object.values(halted!))
      expect(reason).toMatch(/^the object store has seal \d+: the database is older/);
    expect(Object.keys(halted!).length).toBeGreaterThan(0);
  });

  it('a damaged copy is refused before anything is changed', async () => {
    const [, newest] = await copies();
    const file = join(backup, 'copies', newest!, 'database', 'archivist.leaf.jsonl.gz');
    const bytes = await readFile(file);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(file, bytes);
    const place = await emptyPlace('damaged');
    const { code, err } = await cli(place, 'restore', backup, '--without-keys', '--halt-logs');
    expect(code).toBe(2);
    expect(err).toMatch(/archivist\.leaf\.jsonl\.gz of the copy is damaged/);
    expect(await readdir(place['DATA_DIR']!).catch(() => 'nothing')).toBe('nothing');
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(file, bytes);
  });

  it('a lost object of a copy is named, and when it is back the same command goes on, with the same decision', async () => {
    const place = await emptyPlace('lost');
    // The last one that is restored.
    const massifs = (await readdir(join(backup, 'objects', 'verifiabledata'), { recursive: true })).sort();
    const key = `verifiabledata/${massifs.at(-1)}`;
    const object = join(backup, 'objects', key);
    await rename(object, `${object}.aside`);
    const args = ['restore', backup, '--identity', join(deployment.folder, 'identity.txt')];
    const lost = await cli(place, ...args, '--halt-logs');
    expect([lost.code, lost.err.trim()]).toEqual([
      1,
      `error: the object ${key} of the copy is missing: take objects/${key} from another copy of the backup folder, then run the same command again`,
    ]);
    await rename(`${object}.aside`, object);
    const half = await cli(place, 'backup', backup, '--without-keys');
    expect([half.code, half.err]).toEqual([
      2,
      expect.stringMatching(/cannot be copied: a restore .* has not finished/),
    ]);
    // What the first run has put there does not show what was published after the copy.
    await cp(join(backup, 'objects'), fileURLToPath(place['OBJECT_STORE_URL']!), { recursive: true });
    const undecided = await cli(place, ...args);
    expect([undecided.code, undecided.err]).toEqual([2, expect.stringContaining('give --halt-logs')]);
    const restored = await cli(place, ...args, '--halt-logs');
    expect([restored.err, restored.code]).toEqual(['', 3]);
    expect(restored.out).toMatch(/^HALTED {2}chain: the keys log is halted$/m);
  });

  it.runIf(engine === 'embedded' && serverUrl)(
    'moves to a PostgreSQL server: a killed move goes on, the moved database is refused, and the logs continue',
    async () => {
      const to = (await emptyPlace('moved', 'PostgreSQL'))['DATABASE_URL']!;
      const set = await cli({ ...source, DATABASE_URL: to }, 'move', '--to', to);
      expect([set.code, set.err]).toEqual([2, expect.stringContaining('DATABASE_URL is set')]);
      const running = await deployment.start();
      const locked = await cli(source, 'move', '--to', to);
      expect([locked.code, locked.err]).toEqual([2, expect.stringContaining('stop it first')]);
      await running.stop();

      // Its first read after the rows are on the server: the audit opens the newest manifest that KEYS_DIR remembers.
      const remembered = (await readdir(source['KEYS_DIR']!)).find((name) => name.startsWith('key-manifest-'))!;
      const file = join(source['KEYS_DIR']!, remembered);
      await rename(file, `${file}.aside`);
      await killedAt(file, 1, source, 'move', '--to', to);
      await rename(`${file}.aside`, file);
      const half = startBuilt('main', { PORT: '0', PLUGIN_PORT: '0', ...source, DATABASE_URL: to });
      expect(await half.ended).toBe(1);
      expect(half.written.err).toMatch(/a move into it has not finished/);
      await (await deployment.start()).stop();

      const moved = await cli(source, 'move', '--to', to);
      expect([moved.err, moved.code, moved.code ? moved.out : '']).toEqual(['', 0, '']);
      expect(moved.out).toContain('The audit found no fault.');
      const old = startBuilt('main', { PORT: '0', PLUGIN_PORT: '0', ...source });
      expect(await old.ended).toBe(1);
      expect(old.written.err).toMatch(/it was moved to a PostgreSQL server/);
      const stale = await cli(source, 'backup', backup, '--without-keys');
      expect([stale.code, stale.err]).toEqual([
        2,
        expect.stringMatching(/cannot be copied: it was moved .*DATABASE_URL/),
      ]);
      const elsewhere = (await emptyPlace('elsewhere', 'PostgreSQL'))['DATABASE_URL']!;
      for (const place of [to, elsewhere]) {
        const again = await cli(source, 'move', '--to', place);
        expect([again.code, again.err]).toEqual([2, expect.stringContaining('was moved before')]);
      }

      // As if it had been killed after the mark and before the service may start on the copy.
      const ends = await openEmbeddedOwner(embeddedFolder(source['DATA_DIR']!), false);
      const { rows } = await ends.client.query(
        `SELECT obj_description('archivist'::regnamespace, 'pg_namespace') AS mark`,
      );
      await ends.close();
      const [, move] = /^moved (\S+)$/.exec(String(rows[0].mark))!;
      await onServer(to, `COMMENT ON SCHEMA archivist IS 'restoring ${move}'`);
      const resumed = await cli(source, 'move', '--to', to);
      expect([resumed.err, resumed.code]).toEqual(['', 0]);

      const service = await deployment.start({ DATABASE_URL: to });
      const before = journal.acknowledged.length;
      await journal.sendMany(service.url, 3);
      await confirmed(service.url, journal.acknowledged.slice(before));
      // Others went to a restored place.
      await confirmed(service.url, journal.acknowledged.slice(0, SENT_TO_SOURCE));
      await service.stop();
    },
  );
});

async function databaseUrl(deployment: Deployment): Promise<string | undefined> {
  const [row] = await deployment.owner('SELECT current_database() AS name');
  return Object.assign(new URL(serverUrl!), { pathname: `/${String(row!['name'])}` }).href;
}
