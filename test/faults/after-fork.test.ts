import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import { decodeVkey } from '../../src/core/tlog/signed-note.js';
import { examineTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import { startTestWitness, type TestWitness } from '../api/test-witness.js';
import { onServer } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';
import { createDeployment, type Deployment, type RunningProcess } from './deployment.js';
import { Journal, until } from './journal.js';
import { runCommand } from './run-command.js';
import { runProgram } from './run-program.js';

const WITHIN_MS = 150_000;
const FORK = ['logs', 'fork', '--all', '--reason', 'restored from an older copy'];

/** Every test goes on where the last one ended. One engine is enough: open-fork.test.ts compares both. */
describe('a deployment whose logs were forked, and what is done with it afterwards', () => {
  let deployment: Deployment;
  let service: RunningProcess;
  let journal: Journal;
  let witness: TestWitness;
  let root: string;
  let database: string | undefined;
  /** Receipts as they were fetched, of every generation. */
  const receipts = new Map<string, string>();

  const run = (...args: string[]) => runCommand(deployment, args);
  const operate = (...args: string[]) => run(...args, '--url', service.url);
  const start = () =>
    deployment.start({ WITNESSES: witness.address, WITNESS_SECONDS: '1', ANCHOR_SCHEDULE: '* * * * * *' });
  const state = (name: string) => join(deployment.folder, `seen-${name}`);
  const monitor = (name: string) => run('monitor', service.url, '--once', '--root', root, '--state', state(name));

  /** What an operator tells a witness about the logs, under their names of now. */
  async function introduce(): Promise<string[]> {
    const { json } = await journal.get(service.url, '/verifiabledata/tlog');
    const known = (json['logs'] as { kind: string; vkey: string }[]).filter(({ kind }) => kind !== 'private');
    for (const { vkey } of known) if (!witness.knownLogs.includes(vkey)) witness.knownLogs.push(vkey);
    return known.map(({ vkey }) => decodeVkey(vkey).name);
  }

  async function receiptOf(url: string, read: string): Promise<string> {
    const { bytes } = await until(
      () => journal.get(url, `${read}/transparent-statement`),
      ({ status }) => status === 200,
      WITHIN_MS,
    );
    return toHex(bytes);
  }

  /** Sends events, and waits until the witness has cosigned those of assets; the others have no such state. */
  async function witnessed(): Promise<void> {
    const from = journal.entries.length;
    await journal.sendMany(service.url, 3);
    for (const { read } of journal.entries.slice(from)) {
      await until(
        () => journal.get(service.url, read!),
        ({ json }) => json['confirmation_status'] === (read!.includes('/assets/') ? 'UNEQUIVOCAL' : 'CONFIRMED'),
        WITHIN_MS,
      );
      receipts.set(read!, await receiptOf(service.url, read!));
    }
  }

  /** The database of before, beside the object store of now. */
  async function loses(meanwhile: () => Promise<unknown>): Promise<void> {
    await service.stop();
    const restore = await deployment.backUp();
    service = await start();
    await meanwhile();
    await service.stop();
    await restore();
    service = await start();
  }

  async function everyReceiptVerifies(url: string): Promise<void> {
    const published = await journal.get(url, '/.well-known/scitt-keys');
    const did = await journal.get(url, '/archivist/v1/didweb/did.json');
    const methods = did.json['verificationMethod'] as { publicKeyJwk: PublicJwk }[];
    const trust = {
      logKeys: decodeCoseKeySet(published.bytes),
      issuerKeys: methods.map(({ publicKeyJwk }) => publicKeyJwk),
    };
    for (const [read, receipt] of receipts) {
      const { outcome } = await examineTransparentStatement(new Uint8Array(Buffer.from(receipt, 'hex')), trust);
      expect([read, outcome]).toEqual([read, 'verified']);
    }
  }

  beforeAll(async () => {
    deployment = await createDeployment('embedded');
    witness = await startTestWitness('w1.example');
    service = await start();
    root = /Root key: (\S+)/.exec(service.output())![1]!;
    journal = await Journal.begin(service.url);
    await introduce();
    await witnessed();
    expect(await monitor('on')).toMatchObject({ code: 0, err: '' });
    await cp(state('on'), state('off'), { recursive: true, filter: (from) => !/lock/.test(basename(from)) });
  }, 300_000);
  afterAll(async () => {
    await service?.kill();
    await deployment?.close();
    await witness?.close();
    if (database) await onServer(serverUrl!, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  });

  it('has its keys log back after a rotation, and witnesses cosign the new names and never an old one at a lower size', async () => {
    await loses(async () => {
      await witnessed();
      await until(
        () => operate('keys', 'rotate', 'seal'),
        ({ out }) => out.includes('retired'),
        WITHIN_MS,
      );
    });
    const before = { first: witness.state.size, others: new Map(witness.others) };
    const { logs } = JSON.parse((await operate('logs', '--json')).out) as {
      logs: { identity: string; kind: string }[];
    };
    const keysLog = logs.find(({ kind }) => kind === 'key manifests')!;
    expect(await operate('logs', 'resume', keysLog.identity)).toMatchObject({ code: 0, err: '' });
    const forked = await operate(...FORK, '--confirm', 'fork 4 logs and the chain');
    expect([forked.code, forked.out.match(/ goes on as \S+\.1$/gm)?.length]).toEqual([0, 4]);
    const names = await introduce();
    expect(names.filter((name) => name.endsWith('.1'))).toHaveLength(1);
    await witnessed();
    const publicName = names.find((name) => name.endsWith('.1'))!;
    expect(witness.others.get(publicName)!.size).toBeGreaterThan(0n);
    expect(witness.state.size).toBe(before.first);
    for (const [origin, { size }] of before.others) expect(witness.others.get(origin)!.size >= size).toBe(true);
    expect(await monitor('on')).toMatchObject({ code: 0, err: '' });
  }, 400_000);

  it('is forked a second time, and followed by a monitor that was off meanwhile', async () => {
    await loses(witnessed);
    const forked = await operate(...FORK, '--confirm', 'fork 4 logs and the chain');
    expect([forked.code, forked.out.match(/\.1 goes on as \S+\.2$/gm)?.length]).toEqual([0, 4]);
    await introduce();
    await witnessed();
    for (const name of ['on', 'off']) {
      const followed = await monitor(name);
      expect([name, followed.code, followed.err]).toEqual([name, 0, '']);
      expect(followed.out.match(/forked openly at \S+ into \S+\.2: /g)).toHaveLength(4);
    }
    await everyReceiptVerifies(service.url);
  }, 400_000);

  it('is backed up and restored into an empty place, with the receipts of every generation', async () => {
    const copies = join(deployment.folder, 'copies');
    expect(await operate('backup', copies, '--without-keys')).toMatchObject({ code: 0 });
    await service.stop();
    const place = {
      ...deployment,
      objectsDir: join(deployment.folder, 'objects-2'),
      environment: { DATA_DIR: join(deployment.folder, 'second') },
    };
    const restored = await runProgram(place, [
      'restore',
      copies,
      '--without-keys',
      '--nothing-published-since',
      '--root',
      root,
    ]);
    expect([restored.code, restored.err, restored.out]).toEqual([0, '', expect.stringContaining('no fault')]);
    const OBJECT_STORE_URL = pathToFileURL(place.objectsDir).href;
    const second = await deployment.start({ ANCHOR_SCHEDULE: '* * * * * *', OBJECT_STORE_URL }, 'second');
    const present = journal.acknowledged.map(({ read }) => read!);
    let served = 0;
    for (const read of present) {
      const { status, bytes } = await journal.get(second.url, `${read}/transparent-statement`);
      if (status !== 200) continue;
      served += 1;
      expect(toHex(bytes)).toBe(receipts.get(read));
    }
    // What each fork has lost is lost here too.
    expect(served).toBe(present.length - 6);
    await everyReceiptVerifies(second.url);
    expect(await journal.send(second.url)).toBe(true);
    await receiptOf(second.url, journal.entries.at(-1)!.read!);
    await second.stop();
  }, 400_000);

  it.runIf(serverUrl)(
    'is moved to PostgreSQL, audited there, and goes on',
    async () => {
      database = `after_fork_${process.pid}_${Date.now()}`;
      await onServer(serverUrl!, `CREATE DATABASE ${database}`);
      const DATABASE_URL = Object.assign(new URL(serverUrl!), { pathname: `/${database}` }).href;
      const moved = await runProgram(deployment, ['move', '--to', DATABASE_URL, '--root', root]);
      expect([moved.code, moved.err, moved.out]).toEqual([0, '', expect.stringContaining('The audit found no fault')]);
      service = await deployment.start({ DATABASE_URL });
      expect(await journal.send(service.url)).toBe(true);
      await receiptOf(service.url, journal.entries.at(-1)!.read!);
      await everyReceiptVerifies(service.url);
    },
    400_000,
  );
});
