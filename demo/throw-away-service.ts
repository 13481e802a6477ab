import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { issuerDid } from '../src/core/statement/issuer-did.js';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const STARTED_WITHIN_MS = 90_000;

/** A whole service with its plugin, in its own process and folder. */
export interface ThrowAwayService {
  readonly url: string;
  readonly pluginUrl: string;
  /** Issuer of the statements of the first tenancy. */
  readonly issuer: string;
  /** Reads a path with the first Owner's token. */
  read(path: string): Promise<Response>;
  stop(): Promise<void>;
}

/**
 * Starts the built program as `npm start` does, on free ports. @throws {Error} with its output when it does not start
 */
export async function startThrowAwayService(dataDir: string): Promise<ThrowAwayService> {
  const [port, pluginPort] = await Promise.all([freePort(), freePort()]);
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: String(port), PLUGIN_PORT: String(pluginPort) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await started(child);
  const credentials = await readCredentials(join(dataDir, 'credentials.json'));
  const token = await ownerToken(credentials);
  return {
    url,
    issuer: issuerDid(url, credentials['tenant_identity']!.replace(/^tenant\//, '')),
    pluginUrl: `http://127.0.0.1:${pluginPort}`,
    read: (path) => fetch(url + path, { headers: { authorization: `Bearer ${token}` } }),
    stop: () => stopped(child),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Resolves at the last start line, which says how to stop. */
function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const late = setTimeout(() => {
      child.kill();
      reject(new Error(`The service did not start in time. It printed:\n${printed}`));
    }, STARTED_WITHIN_MS);
    const hear = (chunk: Buffer): void => {
      printed += chunk.toString();
      if (!/^Stop with /m.test(printed)) return;
      clearTimeout(late);
      resolve();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`The service ended with ${code}. It printed:\n${printed}`));
    });
  });
}

async function readCredentials(file: string): Promise<Record<string, string>> {
  return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
}

async function ownerToken(credentials: Record<string, string>): Promise<string> {
  const reply = await fetch(credentials['token_endpoint']!, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: credentials['client_id']!,
      client_secret: credentials['client_secret']!,
    }),
  });
  if (!reply.ok) throw new Error(`No token: ${reply.status}`);
  return ((await reply.json()) as { access_token: string }).access_token;
}

function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.removeAllListeners('exit');
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}
