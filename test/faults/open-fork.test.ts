import { cp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import { decodeForks, verifyForkStatement } from '../../src/core/fork/read-fork-statement.js';
import { decodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { decodeNote } from '../../src/core/tlog/signed-note.js';
import { examineTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import { createDeployment, type Deployment, ENGINES, type RunningProcess } from './deployment.js';
import { type Entry, Journal, until } from './journal.js';
import { runCommand } from './run-command.js';
import { runProgram } from './run-program.js';

/** One private log, one public one, and the statement log of each. */
const LOGS = 4;
const WITHIN_MS = 150_000;
/** So that blocks are lost too. */
const BLOCKS = { ANCHOR_SCHEDULE: '* * * * * *' };
const REASON = 'the disk of the newer database is lost';

/** Passes requests on, except for some paths. */
async function between(url: () => string, hidden: (path: string) => boolean) {
  const server = createServer(async (request, response) => {
    try {
      if (hidden(request.url!)) return void response.writeHead(404).end();
      const answer = await fetch(`${url()}${request.url}`);
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(new Uint8Array(await answer.arrayBuffer()));
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((closed) => server.close(closed)),
  };
}

describe.each(ENGINES)('a log that is forked openly, on %s', (engine) => {
  let deployment: Deployment;
  let service: RunningProcess;
  let journal: Journal;
  let restore: () => Promise<void>;
  let root: string;
  let copiedHeight: number;
  let forkHeight: number;
  /** Proofs as they were fetched before the database was lost. */
  const proofs = new Map<string, string>();

  const state = (name: string) => join(deployment.folder, `seen-${name}`);
  const monitor = (name: string, url = service.url) =>
    runCommand(deployment, ['monitor', url, '--once', '--root', root, '--state', state(name)]);
  const logs = (...args: string[]) => runCommand(deployment, ['logs', ...args, '--url', service.url]);
  const path = (entry: Entry) => `${entry.read}/transparent-statement`;

  async function confirmed(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      await until(
        () => journal.get(service.url, entry.read!),
        ({ json }) => json['confirmation_status'] === 'CONFIRMED',
        WITHIN_MS,
      );
      const { bytes } = await until(
        () => journal.get(service.url, path(entry)),
        ({ status }) => status === 200,
        WITHIN_MS,
      );
      if (!proofs.has(path(entry))) proofs.set(path(entry), toHex(bytes));
      expect(toHex(bytes)).toBe(proofs.get(path(entry)));
    }
  }

  async function keys(): Promise<{ logKeys: PublicJwk[]; issuerKeys: PublicJwk[] }> {
    const published = await journal.get(service.url, '/.well-known/scitt-keys');
    const did = await journal.get(service.url, '/archivist/v1/didweb/did.json');
    const methods = did.json['verificationMethod'] as { publicKeyJwk: PublicJwk }[];
    return { logKeys: decodeCoseKeySet(published.bytes), issuerKeys: methods.map(({ publicKeyJwk }) => publicKeyJwk) };
  }

  async function allProofsVerify(): Promise<void> {
    const trust = await keys();
    for (const [where, proof] of proofs) {
      const { outcome } = await examineTransparentStatement(new Uint8Array(Buffer.from(proof, 'hex')), trust);
      expect([where, outcome]).toEqual([where, 'verified']);
    }
  }

  const height = async () => {
    const { json } = await journal.get(service.url, '/archivist/v1/archivistnode');
    return Number((json['blockchain_nodes'] as { block_height: string }[])[0]!.block_height);
  };
  const higherThan = (before: number) => until(height, (now) => now > before, WITHIN_MS);

  const chainState = async () => {
    const { json } = await journal.get(service.url, '/readyz');
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    return [(json['checks'] as { chain: string }).chain, /^archivist_chain_halted .*$/m.exec(metrics)?.[0]];
  };

  const checkpoint = async (log: string) => {
    const { bytes } = await journal.get(service.url, `/verifiabledata/tlog/${log}/checkpoint`);
    return decodeCheckpoint(decodeNote(new TextDecoder().decode(bytes)).text);
  };

  const statementLogs = async () => {
    const { json } = await journal.get(service.url, '/verifiabledata/tlog');
    return (json['logs'] as { id: string; kind: string; origin: string }[]).filter(({ kind }) => kind !== 'keys');
  };

  beforeAll(async () => {
    deployment = await createDeployment(engine);
    service = await deployment.start(BLOCKS);
    root = /Root key: (\S+)/.exec(service.output())![1]!;
    journal = await Journal.begin(service.url);
    await journal.sendMany(service.url, 6);
    await confirmed(journal.acknowledged);
    copiedHeight = await higherThan(0);
    expect(await monitor('copied')).toMatchObject({ code: 0, err: '' });
    await service.stop();
    restore = await deployment.backUp();
    service = await deployment.start(BLOCKS);
    await journal.sendMany(service.url, 9);
    await confirmed(journal.acknowledged);
    await higherThan(copiedHeight);
    expect(await monitor('lost')).toMatchObject({ code: 0, err: '' });
    for (const name of ['copied', 'lost'])
      await cp(state(name), state(`${name}-silent`), {
        recursive: true,
        filter: (from) => !/lock/.test(basename(from)),
      });
    await service.stop();
    await restore();
    service = await deployment.start(BLOCKS);
  }, 400_000);
  afterAll(async () => {
    await service?.kill();
    await deployment?.close();
  });

  it('is halted before, and a monitor that saw the lost entries calls that a rollback', async () => {
    const told = await logs();
    expect(told.out).toContain(`5 logs, ${LOGS} halted`);
    expect(told.out).toContain('vcon-archivist logs fork');
    expect(told.out).toMatch(/chain {2}block \d+ {2}\(HALTED\)/);
    expect(await chainState()).toEqual([
      expect.stringMatching(/^HALTED: the database ends with block \d+, the object store with block \d+; see/),
      'archivist_chain_halted 1',
    ]);
    expect(await monitor('lost')).toMatchObject({ code: 1, err: expect.stringContaining('a rollback') });
  }, 300_000);

  it('is forked only after a person types its name, and after that has the statement as its first new entry', async () => {
    const refused = await runProgram(deployment, ['logs', 'fork', '--all', '--reason', REASON, '--url', service.url]);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('Nothing was changed') });
    const [first] = (
      JSON.parse((await logs('--json')).out) as { logs: { identity: string; name: string; halted: string }[] }
    ).logs.filter(({ halted }) => halted !== '');
    expect(await logs('fork', first!.identity, '--reason', REASON, '--confirm', 'another log')).toMatchObject({
      code: 2,
    });
    const one = await runProgram(
      deployment,
      ['logs', 'fork', first!.identity, '--reason', REASON, '--url', service.url],
      `${first!.name}\n`,
    );
    expect([one.code, one.out]).toEqual([0, `${first!.name} goes on as ${first!.name}.1\n`]);
    expect(await logs('fork', first!.identity, '--reason', REASON, '--confirm', `${first!.name}.1`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('This log is not halted'),
    });
    const rest = await logs('fork', '--all', '--reason', REASON, '--confirm', `fork ${LOGS - 1} logs and the chain`);
    expect([rest.code, rest.out.match(/ goes on as \S+\.1/g)?.length]).toEqual([0, LOGS - 1]);
    const [, forkBlock, known] = /chain: block (\d+) follows block (\d+)/.exec(rest.out)!;
    forkHeight = Number(forkBlock);
    const block = await journal.get(service.url, `/archivist/v1/archivistnode/block?number=${forkBlock}`);
    expect(Buffer.from(`${block.json['extraData']}`.slice(2), 'hex').toString()).toContain(REASON);
    const lost = await journal.get(service.url, `/archivist/v1/archivistnode/block?number=${Number(known) + 1}`);
    expect([lost.status, lost.json['description']]).toEqual([404, expect.stringContaining('was lost')]);
    await until(
      () => journal.get(service.url, '/readyz'),
      ({ status }) => status === 200,
      WITHIN_MS,
    );
    expect(await chainState()).toEqual(['ok', 'archivist_chain_halted 0']);
    const { logKeys } = await keys();
    for (const { id, origin } of await statementLogs()) {
      await until(
        () => checkpoint(id),
        (newest) => newest.origin === `log/${id}.1`,
        WITHIN_MS,
      );
      const published = await journal.get(service.url, `/verifiabledata/tlog/${id}/forks`);
      const [fork, ...more] = decodeForks(published.bytes);
      expect(more).toEqual([]);
      expect(fork).toMatchObject({ log: `log/${id}.1`, continues: `log/${id}`, reason: REASON });
      expect(fork!.last.leaves > fork!.leaves).toBe(true);
      await verifyForkStatement(fork!, logKeys);
      // The old log ends where the database ended, under its own name.
      expect(await checkpoint(`${id}.0`)).toEqual({ origin: `log/${id}`, size: fork!.leaves, root: fork!.root });
      expect(origin.startsWith(`log/${id}`)).toBe(true);
    }
  }, 300_000);

  it('gives receipts again, and every receipt of before stays valid, also of what was lost', async () => {
    const known = journal.entries.slice(0, 6);
    await confirmed(known);
    const before = journal.entries.length;
    await journal.sendMany(service.url, 6);
    const fresh = journal.entries.slice(before);
    expect(fresh.every(({ read }) => read !== undefined)).toBe(true);
    await confirmed(fresh);
    await higherThan(forkHeight);
    expect(proofs.size).toBe(journal.acknowledged.length);
    await allProofsVerify();
  }, 400_000);

  it('is followed by a monitor that saw it before, and is an alarm without the statement', async () => {
    const copied = await monitor('copied');
    expect([copied.code, copied.err]).toEqual([0, '']);
    expect(copied.out.match(/forked openly at .*: it holds all that was seen\. Reason given: the disk/g)).toHaveLength(
      LOGS,
    );
    const lost = await monitor('lost');
    expect([lost.code, lost.err]).toEqual([0, '']);
    expect(lost.out.match(/forked openly at .*leaves that were seen are lost/g)).toHaveLength(LOGS);
    for (const name of ['lost', 'new']) expect(await monitor(name)).toMatchObject({ code: 0, err: '' });
    const hiding = await between(
      () => service.url,
      (asked) => asked.endsWith('/forks'),
    );
    try {
      for (const name of ['copied-silent', 'lost-silent']) {
        const silent = await monitor(name, hiding.url);
        expect([name, silent.code]).toEqual([name, 1]);
        expect(silent.err.match(/ALARM \S+: .*(fork|rollback)/g)).toHaveLength(LOGS);
      }
    } finally {
      await hiding.close();
    }
  }, 400_000);

  it('is audited without a fault, after a restart too', async () => {
    await service.stop();
    const audited = await runProgram(deployment, ['audit']);
    expect([audited.code, audited.err]).toEqual([0, '']);
    expect(audited.out).toContain('\nSOUND.');
    expect(audited.out).toContain('.1: ');
    service = await deployment.start(BLOCKS);
    expect(await journal.send(service.url)).toBe(true);
    await confirmed(journal.entries.slice(-1));
  }, 400_000);
});
