import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clamavScanner } from '../../src/platform/clamav.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { createOutboundFetch } from '../../src/platform/http/outbound-fetch.js';
import { createIds } from '../../src/platform/ids.js';
import { createSendMail } from '../../src/platform/mail.js';
import { createOutsideCalls, type OutsideService } from '../../src/platform/outside-calls.js';
import { TimeLimitError } from '../../src/platform/time-limit.js';
import { timedObjectStore } from '../../src/platform/timed-object-store.js';
import { startClamavDaemon } from '../api/clamav-daemon.js';
import { freePort } from '../support/free-port.js';
import { clamdPath, hasMailServer, pythonPath } from '../support/prerequisites.js';
import { SPOILED, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from './journal.js';

const silent = pino({ level: 'silent' });
const clock = { now: () => Date.now() };
const CLAMD_SILENT_MS = 2_000;
const MAIL_STEP_MS = 2_000;
const STARTS_WITHIN_MS = 60_000;

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** As much of SMTP (RFC 5321) as takes an e-mail. */
function mailServer(taken: string[]): Server {
  return createServer((socket) => {
    let [text, inData] = ['', false];
    socket.on('error', () => undefined).write('220 mail.example\r\n');
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (inData && line !== '.') continue;
        if (inData) taken.push('an e-mail');
        inData = !inData && line === 'DATA';
        socket.write(inData ? '354 go on\r\n' : line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
      }
    });
  });
}

/** As much of clamd(8) as finds everything clean. */
function scannerDaemon(): Server {
  return createServer((socket) => {
    let last = Buffer.alloc(0);
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        last = Buffer.concat([last, chunk]).subarray(-4);
        if (last.equals(Buffer.alloc(4))) socket.end('stream: OK\0');
      });
  });
}

const identityProvider = (): Server =>
  createHttpServer((_, response) => void response.setHeader('content-type', 'application/json').end('{"keys":[]}'));

/** A real one: aiosmtpd prints each e-mail that it has taken. */
async function startMailProgram(taken: string[]): Promise<Program> {
  const port = await freePort();
  const handler = ['-c', 'aiosmtpd.handlers.Debugging', 'stdout'];
  const program = spawn(pythonPath!, ['-u', '-m', 'aiosmtpd', '-n', '-l', `127.0.0.1:${port}`, ...handler], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  program.stdout.on('data', (text: Buffer) => {
    for (const _ of text.toString().matchAll(/MESSAGE FOLLOWS/g)) taken.push('an e-mail');
  });
  const ended = new Promise<void>((resolve) => program.once('exit', () => resolve()));
  const listens = () => fetch(`http://127.0.0.1:${port}`).then(String, ({ cause }) => String(cause));
  await until(listens, (said) => !said.includes('ECONNREFUSED'), STARTS_WITHIN_MS);
  return {
    port,
    async close() {
      program.kill();
      await ended;
    },
  };
}

async function startScannerProgram(): Promise<Program> {
  const { tcpUrl, stop } = await startClamavDaemon(clamdPath!);
  return { port: Number(new URL(tcpUrl).port), close: stop };
}

const startServer = async (server: Server): Promise<Program> => ({
  port: await listening(server),
  async close() {
    server.close();
  },
});

interface Program {
  readonly port: number;
  close(): Promise<void>;
}

interface Row {
  readonly name: string;
  readonly service: OutsideService;
  start(): Promise<Program>;
  /** Calls the service at this port. */
  call(port: number): Promise<unknown>;
}

function sendOne(port: number): Promise<void> {
  const send = createSendMail({
    smtpUrl: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
    from: 'archivist@example.org',
    folder: '',
    ids: createIds(clock),
    logger: silent,
    stepWithinMs: MAIL_STEP_MS,
  });
  return send({ to: 'someone@example.com', subject: 'x', text: 'y' });
}

/** Whatever happens on the way, content that was not scanned never counts as clean. */
async function scanOne(port: number): Promise<void> {
  const scanner = clamavScanner(`tcp://127.0.0.1:${port}`, CLAMD_SILENT_MS);
  const verdict = await scanner.scan(Readable.from([Buffer.from('content')]));
  if (verdict.status !== 'clean') throw new Error(verdict.status);
}

describe('a call to a service outside', () => {
  const taken: string[] = [];
  const takenForReal: string[] = [];
  const rows: readonly Row[] = [
    { name: 'mail', service: 'mail', start: () => startServer(mailServer(taken)), call: sendOne },
    { name: 'scanner', service: 'scanner', start: () => startServer(scannerDaemon()), call: scanOne },
    {
      name: 'identity provider',
      service: 'identity_provider',
      start: () => startServer(identityProvider()),
      call: async (port) => (await createOutboundFetch({ allowPrivate: true })(`http://127.0.0.1:${port}/keys`)).json(),
    },
    ...(hasMailServer
      ? [{ name: 'aiosmtpd', service: 'mail' as const, start: () => startMailProgram(takenForReal), call: sendOne }]
      : []),
    ...(clamdPath ? [{ name: 'clamd', service: 'scanner' as const, start: startScannerProgram, call: scanOne }] : []),
  ];
  const programs: Program[] = [];
  const proxies = new Map<Row, TcpProxy>();
  beforeAll(async () => {
    for (const row of rows) {
      const program = await row.start();
      programs.push(program);
      proxies.set(row, await startTcpProxy(program));
    }
  }, 120_000);
  afterAll(async () => {
    for (const proxy of proxies.values()) await proxy.close();
    for (const program of programs) await program.close();
  });

  it.concurrent.each(rows)(
    '$name: ends when the way is cut, slow, truncated, garbled or frozen, is reported, and succeeds afterwards',
    async (row) => {
      const proxy = proxies.get(row)!;
      const changes: (number | undefined)[] = [];
      let failures = 0;
      const outside = createOutsideCalls({
        ...{ now: clock.now, logger: silent },
        failed: () => {
          failures += 1;
        },
        changed: (_, failingSinceMs) => changes.push(failingSinceMs),
      });
      for (const way of SPOILED) {
        proxy.become(way);
        const succeeded = await outside.record(row.service, row.call(proxy.port)).then(
          () => true,
          () => false,
        );
        expect([way, succeeded]).toEqual([way, way === 'delay']);
      }
      proxy.become('well');
      await outside.record(row.service, row.call(proxy.port));
      expect(failures).toBe(4);
      expect(changes.map((since) => since === undefined)).toEqual([false, true, false, true]);
      expect(outside.states()).toEqual([{ service: row.service, failingSinceMs: undefined }]);
    },
    120_000,
  );

  it('mail: an e-mail is never sent twice', () => {
    for (const each of hasMailServer ? [taken, takenForReal] : [taken]) {
      // The way was slow once, and well once.
      expect(each.length).toBeGreaterThanOrEqual(2);
      expect(each.length).toBeLessThanOrEqual(SPOILED.length + 1);
    }
  });
});

describe('an object store that does not answer', () => {
  it('fails reads and writes in time, and a write that was given up never replaces a later one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'object-store-'));
    try {
      const outside = createOutsideCalls({ now: clock.now, logger: silent, failed: () => 0, changed: () => 0 });
      // Opening a named pipe waits for its other end, as a file of a file server that is away does.
      const files = fileObjectStore(folder);
      execFileSync('mkfifo', [join(folder, 'stuck')]);
      let thaw: () => void = () => undefined;
      const thawed = new Promise<void>((resolve) => {
        thaw = resolve;
      });
      let frozen = true;
      const store = timedObjectStore(
        {
          ...files,
          async put(key, bytes) {
            if (frozen) await thawed;
            await files.put(key, bytes);
          },
        },
        outside,
        500,
      );
      await expect(store.get('stuck')).rejects.toThrow(TimeLimitError);
      expect(outside.states()).toMatchObject([{ service: 'object_store', failingSinceMs: expect.any(Number) }]);
      await expect(store.put('massif', new Uint8Array([1]))).rejects.toThrow(TimeLimitError);
      frozen = false;
      const later = store.put('massif', new Uint8Array([2]));
      thaw();
      await later;
      expect(await store.get('massif')).toEqual(new Uint8Array([2]));
      // The read of the pipe ends with its other end.
      execFileSync('sh', ['-c', `: > ${join(folder, 'stuck')}`]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('counts as failing while nothing can be written, although reads are answered', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'object-store-'));
    const outside = createOutsideCalls({ now: clock.now, logger: silent, failed: () => 0, changed: () => 0 });
    const store = timedObjectStore(fileObjectStore(folder), outside);
    const fails = () => outside.states()[0]!.failingSinceMs !== undefined;
    await store.ping();
    expect(fails()).toBe(false);
    await rm(folder, { recursive: true });
    await expect(store.ping()).rejects.toThrow();
    expect([await store.get('massif'), fails()]).toEqual([undefined, true]);
    await store.put('massif', new Uint8Array([1]));
    await store.ping();
    expect(fails()).toBe(false);
    await rm(folder, { recursive: true });
  });

  it('counts as failing after one object could not be read only until the store answers again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'object-store-'));
    const outside = createOutsideCalls({ now: clock.now, logger: silent, failed: () => 0, changed: () => 0 });
    const store = timedObjectStore(fileObjectStore(folder), outside);
    const fails = () => outside.states()[0]!.failingSinceMs !== undefined;
    await store.put('massifs/0', new Uint8Array([1]));
    await expect(store.get('massifs')).rejects.toThrow();
    expect(fails()).toBe(true);
    await store.ping();
    expect(fails()).toBe(false);
    await rm(folder, { recursive: true });
  });
});
