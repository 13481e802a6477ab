import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  access,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type CopyManifest,
  completeCopies,
  readCopyManifest,
  writeCopyManifest,
} from '../../src/cli/backup/copy-manifest.js';
import { openServerAlone } from '../../src/cli/backup/database-source.js';
import { openSecrets, placeSecrets, sealSecrets } from '../../src/cli/backup/sealed-secrets.js';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { parseConfig } from '../../src/service/config/config.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';
import { engines, type Place } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

const silent = pino({ level: 'silent' });
let folder: string;
let running: TestService;
let backup: string;
let identity: string;
/** The only copy in `backup`, without keys. */
let copy: string;
let genuine: CopyManifest;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'altered-copy-'));
  backup = join(folder, 'backup');
  identity = join(folder, 'identity');
  await writeFile(identity, await generateX25519Identity());
  running = await startTestService();
  expect(await backUp('--without-keys')).toMatchObject({ err: '', exitCode: 0 });
  copy = join(backup, 'copies', (await readdir(join(backup, 'copies')))[0]!);
  genuine = await readCopyManifest(copy);
}, 60_000);
afterAll(async () => {
  await running?.close();
  await rm(folder, { recursive: true });
});

const backUp = (...options: string[]) => commandLine(['backup', backup, ...options], running.environment);

const DECIDED = '--nothing-published-since';
const own = (dataDir: string) => ({
  DATA_DIR: dataDir,
  KEYS_DIR: join(dataDir, 'keys'),
  OBJECT_STORE_URL: `file://${join(dataDir, 'objects')}`,
  REDIS_URL: '',
  PUBLIC_URL: running.url,
});

describe('restore says what to change before it changes anything', () => {
  const wrong = async (from: string, ...options: string[]) => {
    const dataDir = join(folder, 'untouched');
    const { said, exitCode } = await commandLine(['restore', from, ...options], { ...own(dataDir), DATABASE_URL: '' });
    await expect(access(dataDir)).rejects.toThrow('ENOENT');
    return [exitCode, said];
  };

  it.each([
    [
      'a folder without a complete copy',
      'no-copy',
      ['--without-keys'],
      'no-copy has no complete copy: give the folder that "backup" wrote',
    ],
    [
      'neither an identity nor --without-keys',
      'backup',
      [],
      'give --identity <file> to decrypt the keys, or --without-keys',
    ],
    [
      'an identity and --without-keys',
      'backup',
      ['--identity', 'identity', '--without-keys'],
      'give --identity <file> to decrypt the keys, or --without-keys',
    ],
    [
      'two words about what was published since',
      'backup',
      ['--without-keys', DECIDED, '--halt-logs'],
      'give only one of --nothing-published-since and --halt-logs',
    ],
    [
      'an identity for a copy without keys',
      'backup',
      ['--identity', 'identity', DECIDED],
      'this copy has no keys: put KEYS_DIR in place yourself, then give --without-keys',
    ],
    ['a copy that is not there', 'backup', ['--without-keys', '--copy', 'none'], 'copies/none has no manifest.json'],
    ['an identity that is not there', 'backup', ['--identity', 'none', DECIDED], '--identity: cannot read none'],
    [
      'a malformed fingerprint of the root key',
      'backup',
      ['--without-keys', DECIDED, '--root', 'AITC'],
      '--root: the fingerprint has 4 characters, not 56',
    ],
  ])('%s', async (_what, from, options, says) => {
    const given = options.map((option) => (option === 'identity' ? identity : option));
    expect(await wrong(join(folder, from), ...given)).toEqual([2, expect.stringContaining(says)]);
  });

  it.skipIf(!serverUrl)('a database into which another restore runs', async () => {
    const place = await engines().at(-1)!.place();
    const other = await openServerAlone(place.environment.DATABASE_URL!, 'DATABASE_URL');
    const options = ['restore', backup, '--without-keys', DECIDED];
    const { err, exitCode } = await commandLine(options, { ...own(join(folder, 'untouched')), ...place.environment });
    await other.close();
    await place.remove();
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/another backup, restore or move .* is running/)]);
  });

  it('a file of the copy that a disk does not give out: it is neither missing nor damaged', async () => {
    const file = join(copy, genuine.files[0]!.path);
    await rename(file, `${file}.aside`);
    // Linux refuses to read it as on a broken disk.
    await symlink('/proc/self/mem', file);
    const refused = await wrong(backup, '--without-keys', DECIDED);
    await rename(`${file}.aside`, file);
    expect(refused).toEqual([2, expect.stringContaining(`${file} cannot be read: `)]);
  });

  it('a copy of a newer version, with both versions’ names for it', async () => {
    await writeCopyManifest(copy, {
      ...genuine,
      program: '99.0.0',
      migrations: [...genuine.migrations, 'a-later-one'],
    });
    const refused = await wrong(backup, '--without-keys', DECIDED);
    await writeCopyManifest(copy, genuine);
    expect(refused).toEqual([
      2,
      expect.stringContaining(
        'version 99.0.0 made this copy, and this version does not know its migration a-later-one: restore with that version or a newer one',
      ),
    ]);
  });
});

/** A restore that has not ended: no service starts on it. */
const isUnfinished = (environment: Record<string, string>) =>
  expect(openDatabase(parseConfig(environment), silent)).rejects.toThrow('a restore into it has not finished');

describe('a copy that is not as its manifest says', () => {
  let place: Place;
  beforeAll(async () => {
    place = await engines().at(-1)!.place();
  });
  afterAll(() => place?.remove());

  const environment = () => ({ ...own(place.environment.DATA_DIR), ...place.environment });
  const restore = (...options: string[]) =>
    commandLine(['restore', backup, '--without-keys', DECIDED, ...options], environment());
  /** While the manifest of the copy is another one. */
  async function altered(change: (manifest: CopyManifest) => CopyManifest) {
    await writeCopyManifest(copy, change(structuredClone(genuine)));
    return restore().finally(() => writeCopyManifest(copy, genuine));
  }
  const withTable = (name: string, change: (table: CopyManifest['tables'][0]) => object) =>
    altered((manifest) => ({
      ...manifest,
      tables: manifest.tables.map((table) => (table.name === name ? { ...table, ...change(table) } : table)),
    }));
  it('is not restored with other rows than it had', async () => {
    const { err, exitCode } = await withTable('deployment', ({ rows }) => ({ rows: rows + 1 }));
    expect([exitCode, err]).toEqual([
      1,
      expect.stringMatching(/^error: database\/archivist\.deployment\.jsonl\.gz has 1 rows, the manifest says 2$/),
    ]);
    await isUnfinished(environment());
  });

  it('is not restored without one of its columns', async () => {
    const { err, exitCode } = await withTable('deployment', ({ columns }) => ({
      columns: [...columns, { name: 'colour', type: 'text' }],
    }));
    expect([exitCode, err]).toEqual([
      1,
      'error: this version has no column archivist.deployment.colour: restore with the version that made the copy',
    ]);
    await isUnfinished(environment());
  });

  it('creates no object from damaged bytes, and names the object', async () => {
    const [log] = await readdir(join(backup, 'objects', 'key-manifests'));
    const key = `key-manifests/${log}/0000000000000001`;
    const store = join(place.environment.DATA_DIR, 'objects', key);
    await rm(store, { force: true });
    const object = join(backup, 'objects', key);
    const bytes = await readFile(object);
    await writeFile(object, bytes.with(bytes.length - 1, bytes.at(-1)! ^ 1));
    const { err, exitCode } = await restore();
    await writeFile(object, bytes);
    expect([exitCode, err]).toEqual([
      1,
      `error: the object ${key} of the copy is damaged: take objects/${key} from another copy of the backup folder, then run the same command again`,
    ]);
    await expect(access(store)).rejects.toThrow('ENOENT');
    await isUnfinished(environment());
  });

  it('is restored with an empty queue if it is from before the queue was in the database', async () => {
    const { out, exitCode } = await altered((manifest) => ({
      ...manifest,
      tables: manifest.tables.filter(({ schema }) => schema !== 'bullmq'),
    }));
    expect([exitCode, out]).toEqual([0, expect.stringContaining('The audit found no fault.\nThe service can start')]);
  });
});

describe('a copy that is older than what the object store has', () => {
  const [block, log] = [() => genuine.lastBlock + 1, () => genuine.logs[0]!];
  it.each([
    [
      'a block',
      () => `blocks/${genuine.deployment}/${String(block()).padStart(16, '0')}`,
      () => `chain: the object store has block ${block()}`,
    ],
    [
      'an open fork',
      () => `forks/${log().log}/0000000000000001`,
      () => `${log().name}: the object store has generation 1`,
    ],
  ])('is restored with status 3 and says what is halted: %s', async (_what, later, says) => {
    const place = await engines().at(-1)!.place();
    const environment = { ...own(place.environment.DATA_DIR), ...place.environment };
    const store = join(place.environment.DATA_DIR, 'objects');
    await cp(join(backup, 'objects'), store, { recursive: true });
    await mkdir(dirname(join(store, later())), { recursive: true });
    await writeFile(join(store, later()), 'later');
    const { out, err, exitCode } = await commandLine(['restore', backup, '--without-keys'], environment);
    await place.remove();
    expect([err, exitCode]).toEqual(['', 3]);
    expect(out.split('\n')).toEqual(
      expect.arrayContaining([
        `HALTED  ${says()}: the database is older than what was published`,
        'The audit found no fault.',
      ]),
    );
  });
});

describe('a copy in which the audit finds a fault', () => {
  it('is restored, but no service starts on it unless the operator says so', async () => {
    await running.asOwner("UPDATE archivist.key_manifest SET manifest = '\\x00'");
    const faulty = join(folder, 'faulty');
    expect(await commandLine(['backup', faulty, '--without-keys'], running.environment)).toMatchObject({ exitCode: 0 });
    const place = await engines().at(-1)!.place();
    const environment = { ...own(place.environment.DATA_DIR), ...place.environment };
    const restore = (...options: string[]) =>
      commandLine(['restore', faulty, '--without-keys', DECIDED, ...options], environment);
    const refused = await restore();
    expect([refused.exitCode, refused.out]).toEqual([
      1,
      expect.stringMatching(
        /FAULT .*key manifest.*\nThe audit found .*\nNo service starts on the restored data\. Restore an older copy, or give --despite-faults to start with these faults\.$/s,
      ),
    ]);
    await isUnfinished(environment);
    const accepted = await restore('--despite-faults');
    expect([accepted.exitCode, accepted.out]).toEqual([
      0,
      expect.stringMatching(/FAULT .*\nThe service can start if KEYS_DIR has the keys of this deployment\.$/s),
    ]);
    await (await openDatabase(parseConfig(environment), silent)).close();
    await place.remove();
  });
});

describe('backup', () => {
  const EARLIER = '2026-01-01T00-00-00Z';

  it.each([
    ['neither a recipient nor --without-keys', []],
    ['a recipient and --without-keys', ['--recipient', 'age1', '--without-keys']],
  ])('copies nothing with %s', async (_what, options) => {
    const { err, exitCode } = await commandLine(['backup', join(folder, 'none'), ...options], running.environment);
    expect([exitCode, err]).toEqual([
      2,
      expect.stringContaining('give --recipient <age1…> to encrypt the keys to, or --without-keys if you'),
    ]);
    await expect(access(join(folder, 'none'))).rejects.toThrow('ENOENT');
  });

  /** A backup folder with one copy, of an earlier time: two copies of one second would have one name. */
  async function withEarlierCopy(name: string): Promise<[into: string, list: string]> {
    const into = join(folder, name);
    await cp(backup, into, { recursive: true });
    await rename(join(into, 'copies', basename(copy)), join(into, 'copies', EARLIER));
    return [into, join(into, 'copies', EARLIER, 'objects.jsonl.gz')];
  }

  it('is made beside an earlier one whose list of objects is damaged, copies every object again, and names it', async () => {
    const [into, list] = await withEarlierCopy('damaged-list');
    await writeFile(list, (await readFile(list)).subarray(0, -9));
    const { out, err, exitCode } = await commandLine(['backup', into, '--without-keys'], running.environment);
    expect([err, exitCode]).toEqual(['', 0]);
    expect(out).toMatch(/^Objects: (\d+), of which \1 are new in this folder\.$/m);
    expect(out).toMatch(
      new RegExp(`^DAMAGED: the earlier copy ${EARLIER} cannot be restored, .* Delete its folder`, 'm'),
    );
  });

  it('fails, and calls no earlier copy damaged, if the system refuses its list of objects', async () => {
    const [into, list] = await withEarlierCopy('refused-list');
    await rm(list);
    await mkdir(list);
    const { out, err, exitCode } = await commandLine(['backup', into, '--without-keys'], running.environment);
    expect([out, exitCode]).toEqual(['', 1]);
    expect(err).toContain('EISDIR');
  });

  it('is refused in a folder of another deployment, which would share its unfinished files', async () => {
    const [into] = await withEarlierCopy('foreign');
    await writeCopyManifest(join(into, 'copies', EARLIER), { ...genuine, deployment: randomUUID() });
    const { err, exitCode } = await commandLine(['backup', into, '--without-keys'], running.environment);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('foreign has copies of another deployment')]);
    expect(await readdir(join(into, 'copies'))).toEqual([EARLIER]);
  });

  it('leaves no copy if the secrets changed while it read the database', async () => {
    const recipient = await identityToRecipient(await readFile(identity, 'utf8'));
    const credentials = join(running.environment.DATA_DIR, 'credentials.json');
    await rename(credentials, `${credentials}.aside`);
    execFileSync('mkfifo', [credentials]);
    const into = join(folder, 'changing');
    const made = commandLine(['backup', into, '--recipient', recipient], running.environment);
    await writeFile(credentials, 'the first');
    // They are read again when the rows are there.
    await vi.waitFor(() => access(join(into, 'copies', `.unfinished-${genuine.deployment}`, 'objects.jsonl.gz')), {
      timeout: 20_000,
    });
    await writeFile(credentials, 'another');
    const { err, exitCode } = await made;
    await rename(`${credentials}.aside`, credentials);
    expect([exitCode, err]).toEqual([
      1,
      'error: the files of KEYS_DIR changed while the copy was made: run the command again',
    ]);
    expect(await completeCopies(into)).toEqual([]);
  });
});

describe('the secrets of a copy', () => {
  const files = (name: string) => ({ [name]: new TextEncoder().encode('of the copy') });
  const places = () => ({ keysDir: join(folder, 'place', 'keys'), dataDir: join(folder, 'place') });
  beforeAll(() => mkdir(places().keysDir, { recursive: true }));

  it('are opened by no other identity, which is said before anything is written', async () => {
    const recipient = await identityToRecipient(await readFile(identity, 'utf8'));
    const sealed = await sealSecrets(new Uint8Array(), [recipient]);
    for (const other of [await generateX25519Identity(), recipient, 'AGE-SECRET-KEY-1'])
      await expect(openSecrets(sealed, [other])).rejects.toThrow(
        '--identity: none of these identities decrypts the keys of the copy',
      );
    await expect(sealSecrets(new Uint8Array(), [await generateX25519Identity()])).rejects.toThrow(
      /^--recipient: not an age recipient, which begins with age1: AGE-SECRET-K…$/,
    );
  });

  it.each(['keys/../stray', 'keys/deep/key.pem', '/keys/key.pem', 'other.json', 'keys/'])(
    'are written nowhere else: %s',
    async (name) => {
      await expect(placeSecrets(files(name), places())).rejects.toThrow(
        `the keys of the copy contain "${name}", which no backup writes: restore another copy`,
      );
      expect((await readdir(folder, { recursive: true })).join()).not.toMatch(/stray|key\.pem|other/);
    },
  );

  it('stay where they are already, and replace no other', async () => {
    for (const name of ['keys/key.pem', 'credentials.json']) {
      await placeSecrets(files(name), places());
      await placeSecrets(files(name), places());
      const others = { [name]: new TextEncoder().encode('of another deployment') };
      await expect(placeSecrets(others, places())).rejects.toThrow(
        /(key\.pem|credentials\.json) exists with other bytes: restore into an empty place/,
      );
      expect(await readFile(join(folder, 'place', name), 'utf8')).toBe('of the copy');
    }
  });

  it('leave no second file of a private key behind, also after a killed run', async () => {
    const left = join(places().keysDir, '.unfinished-key.pem-1');
    await writeFile(left, 'of the copy');
    await utimes(left, 1, 1);
    await placeSecrets(files('keys/key.pem'), places());
    expect(await readdir(places().keysDir)).toEqual(['key.pem']);
  });
});
