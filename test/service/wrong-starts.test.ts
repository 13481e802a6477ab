import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { embeddedDataDir } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

const isRoot = process.getuid?.() === 0;

afterAll(killBuilt);

describe('a wrong start ends with one line that says what to change:', { timeout: 180_000 }, () => {
  let folder: string;
  let taken: Server;
  let takenPort: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(inject('runFolder'), 'wrong-'));
    taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    takenPort = String((taken.address() as { port: number }).port);
  });
  afterAll(async () => {
    await new Promise((resolve) => taken.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });

  const service = (environment: Record<string, string>, args: readonly string[] = []): BuiltProgram =>
    startBuilt('main', { PORT: '0', PLUGIN_PORT: '0', PUBLIC_URL: 'http://archivist.example', ...environment }, args);

  async function expectRefused(program: BuiltProgram, says: RegExp, code = 1): Promise<void> {
    expect(await program.ended).toBe(code);
    const { out, err } = program.written;
    expect(out).toBe('');
    expect(err).toMatch(says);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).not.toMatch(/^\s+at |\.js:\d/m);
  }

  it('a DATA_DIR that is a file', async () => {
    const DATA_DIR = join(folder, 'file');
    await writeFile(DATA_DIR, '');
    await expectRefused(service({ DATA_DIR }), /^vcon-archivist could not start: DATA_DIR cannot be used: .*\/file/);
    await expectRefused(service({ DATA_DIR: join(DATA_DIR, 'below') }), /DATA_DIR cannot be used: .* not a folder/);
  });

  it('a KEYS_DIR or an OBJECT_STORE_URL that cannot be used', async () => {
    const DATA_DIR = await embeddedDataDir();
    const below = join(folder, 'no-folder', 'below');
    await writeFile(join(folder, 'no-folder'), '');
    await expectRefused(service({ DATA_DIR, KEYS_DIR: below }), /start: KEYS_DIR cannot be used: .* not a folder/);
    const OBJECT_STORE_URL = pathToFileURL(below).href;
    await expectRefused(
      service({ DATA_DIR, OBJECT_STORE_URL }),
      /start: OBJECT_STORE_URL cannot be used: .* not a fold/,
    );
    await rm(DATA_DIR, { recursive: true });
  });

  // Nothing is forbidden to root.
  it.skipIf(isRoot)('a DATA_DIR that cannot be written to', async () => {
    const DATA_DIR = join(folder, 'read-only');
    await mkdir(DATA_DIR, { mode: 0o500 });
    await expectRefused(service({ DATA_DIR }), /DATA_DIR cannot be used: permission denied .*\/read-only/);
    await chmod(DATA_DIR, 0o700);
  });

  it('a demo without the conserver plugin or with another place’s variables, before it makes anything', async () => {
    const DATA_DIR = join(folder, 'demo');
    const demo = service({ DATA_DIR }, ['--demo']);
    await expectRefused(demo, /^The configuration is wrong: PLUGIN_PORT: must not be 0 with --demo/, 2);
    for (const [name, value] of [
      ['DATABASE_URL', 'postgres://h/d'],
      ['ROLE', 'api'],
      ['PLUGIN_SECRET', 'x'.repeat(32)],
    ] as const)
      await expectRefused(
        service({ DATA_DIR, [name]: value }, ['--demo']),
        new RegExp(`^The configuration is wrong: ${name}: leave it unset with --demo`),
        2,
      );
    expect(await readdir(folder)).not.toContain('demo');
  });

  it('a DATA_DIR that another process uses', async () => {
    const DATA_DIR = await embeddedDataDir();
    const first = service({ DATA_DIR });
    await first.says(/listens on/);
    await expectRefused(service({ DATA_DIR }), /another process uses .*: stop it, or set DATA_DIR/);
    first.signal('SIGTERM');
    expect(await first.ended).toBe(0);
    await rm(DATA_DIR, { recursive: true });
  });

  it('a PORT that is taken, the plugin’s too', async () => {
    const DATA_DIR = await embeddedDataDir();
    const reason = `something listens there already, another process or another port of this one .*127\\.0\\.0\\.1:${takenPort}`;
    await expectRefused(
      service({ DATA_DIR, PORT: takenPort }),
      new RegExp(`^\\S+ could not start: PORT ${takenPort} of HOST .*${reason}\\): set PORT to another port`),
    );
    const fresh = join(folder, 'fresh');
    await expectRefused(service({ DATA_DIR: fresh, PORT: takenPort }), /set PORT to another port/);
    expect(await readdir(folder)).not.toContain('fresh');
    await expectRefused(
      service({ DATA_DIR, PLUGIN_PORT: takenPort }),
      new RegExp(
        `the conserver plugin \\(PLUGIN_PORT ${takenPort}\\) cannot be started: ${reason}\\): set PLUGIN_PORT to another port`,
      ),
    );
    // Where the same port is given twice, no other process is to blame.
    await expectRefused(service({ DATA_DIR, METRICS_PORT: '18399', PORT: '18399' }), /another port of this one/);
    await rm(DATA_DIR, { recursive: true });
  });

  it('a key file that is missing, or that is none', async () => {
    const DATA_DIR = await embeddedDataDir();
    const first = service({ DATA_DIR });
    await first.says(/listens on/);
    first.signal('SIGTERM');
    await first.ended;
    const keys = join(DATA_DIR, 'keys');
    const keyFiles = (await readdir(keys)).filter((name) => name.endsWith('.pem')).map((name) => join(keys, name));
    await Promise.all(keyFiles.map((file) => writeFile(file, 'no key')));
    await expectRefused(service({ DATA_DIR }), /active key \S+ cannot be read \(.+\): restore \S+\.pem/);
    await Promise.all(keyFiles.map((file) => rm(file)));
    await expectRefused(service({ DATA_DIR }), /active key \S+ is missing: restore \S+\.pem, or set KEYS_DIR/);
    await rm(keys, { recursive: true });
    await expectRefused(
      service({ DATA_DIR }),
      /KEYS_DIR has no key manifest of this deployment \(\S+\.cose\): set KEYS_DIR .*, or restore all files/,
    );
    await rm(DATA_DIR, { recursive: true });
  });

  it('a DATABASE_URL where nothing listens, and one that is no PostgreSQL URL', async () => {
    const DATA_DIR = join(folder, 'unused');
    const nowhere = { DATA_DIR, DATABASE_URL: 'postgres://archivist:not-to-be-shown@localhost:1/x' };
    const refused = service(nowhere);
    await expectRefused(refused, /the database of DATABASE_URL cannot be opened: nothing listens there .*:1\)/);
    expect(refused.written.err).not.toContain('not-to-be-shown');
    await expectRefused(service({ DATA_DIR, DATABASE_URL: 'localhost' }), /DATABASE_URL: must be a URL/, 2);
  });

  it.skipIf(!serverUrl)('a DATABASE_URL of a database that does not exist', async () => {
    const url = new URL(serverUrl!);
    url.pathname = `/no_such_${randomUUID().replaceAll('-', '')}`;
    const environment = { DATA_DIR: join(folder, 'unused'), DATABASE_URL: url.href };
    await expectRefused(service(environment), /DATABASE_URL cannot be opened: database "no_such_\w+" does not exist/);
  });

  it('a REDIS_URL where nothing listens', async () => {
    const DATA_DIR = await embeddedDataDir();
    const says = /the Redis of REDIS_URL cannot be reached: nothing listens there .*:1\)/;
    await expectRefused(service({ DATA_DIR, REDIS_URL: 'redis://127.0.0.1:1' }), says);
    await rm(DATA_DIR, { recursive: true });
  });

  it('a PORT or a role that does not go with the rest', async () => {
    const DATA_DIR = join(folder, 'unused');
    await expectRefused(service({ DATA_DIR, PUBLIC_URL: '' }), /PORT: 0 takes a different port at each start/, 2);
    await expectRefused(service({ DATA_DIR, ROLE: 'api' }), /ROLE: api .* needs DATABASE_URL/, 2);
  });
});
