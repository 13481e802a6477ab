import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromiumPath } from './chromium.js';
import { mayMount } from './small-disk.js';
import { commitOfVersionBefore } from './version-before.js';

/** A PostgreSQL in which a test may make databases, by a URL whose role may create them. */
export const serverUrl = process.env['TEST_DATABASE_URL'];
/** A Redis that keeps what it answers for. Tests share it, each under names of its own. */
export const redisUrl = process.env['TEST_REDIS_URL'];
/** Started by tests that need a Redis with settings of their own. */
export const redisServerPath = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find(existsSync);
/** RedisJSON's module (rejson.so), with which a conserver's Redis holds vCons. */
export const redisJsonPath = [process.env['TEST_REDISJSON']].find((path) => path !== undefined && existsSync(path));
/** A server that speaks S3 (versitygw), started by tests with buckets of their own. */
export const s3ServerPath = [process.env['TEST_S3_SERVER'], '/usr/local/bin/versitygw'].find(
  (path) => path !== undefined && existsSync(path),
);
/** The ClamAV daemon (clamav-daemon), started by tests with a signature of their own. */
export const clamdPath = ['/usr/sbin/clamd', '/usr/local/sbin/clamd', '/usr/bin/clamd'].find(existsSync);
/** SoftHSM (softhsm2): a PKCS #11 module that keeps its keys in files, and what makes its tokens. */
export const softhsm = softhsmParts();
/** p11-kit (p11-kit, p11-kit-modules): offers another module's tokens at a socket, and a module that finds them there. */
export const p11kit = p11kitParts();
const python = process.env['TEST_PYTHON'] ?? 'python3';
const runsPython = (script: string): boolean => spawnSync(python, ['-c', script]).status === 0;
/** Python 3, with which a conserver runs links. */
export const pythonPath = runsPython('import json') ? python : undefined;
/** With the conserver's own client of Redis; conservers have 4.6 or newer, Debian's Python a little older. */
export const hasRedisPy = pythonPath !== undefined && runsPython('import redis; assert redis.VERSION >= (4, 3)');
/** With which the second verifier, in Python, checks signatures (python3-cryptography). */
export const hasPythonCryptography = pythonPath !== undefined && runsPython('import cryptography');
/** An SMTP server (python3-aiosmtpd). */
export const hasMailServer = pythonPath !== undefined && runsPython('import aiosmtpd');
/** Prometheus's own check of rules (prometheus). */
export const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
/** Gives one process another clock (faketime). */
export const faketimeLibrary = ['x86_64-linux-gnu/', 'aarch64-linux-gnu/', '']
  .map((machine) => `/usr/lib/${machine}faketime/libfaketimeMT.so.1`)
  .find(existsSync);
/** A tool of everybody's, with which raw signatures are checked. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

function softhsmParts(): { readonly modulePath: string; readonly util: string } | undefined {
  const modules = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/local/lib/softhsm/libsofthsm2.so'];
  const [modulePath, util] = [modules, ['/usr/bin/softhsm2-util', '/usr/local/bin/softhsm2-util']].map((paths) =>
    paths.find(existsSync),
  );
  return modulePath && util ? { modulePath, util } : undefined;
}

function p11kitParts(): { readonly modulePath: string; readonly program: string } | undefined {
  const folders = ['x86_64-linux-gnu/', 'aarch64-linux-gnu/', ''].map((machine) => `/usr/lib/${machine}pkcs11`);
  const modulePath = folders.map((folder) => `${folder}/p11-kit-client.so`).find(existsSync);
  const program = ['/usr/bin/p11-kit'].find(existsSync);
  return modulePath && program ? { modulePath, program } : undefined;
}

/** What this machine lacks, and which tests are skipped for that. */
export function notRun(): string[] {
  return [
    ...lacking(),
    // A module that no Debian package has: CI fetches it where it can.
    ...(hasPromtool ? [] : ['the check of the alert rules by Prometheus: there is no promtool']),
    ...(commitOfVersionBefore ? [] : ['two versions beside each other: the history of the repository is not there']),
    ...(mayMount() ? [] : ['tests on a full file system: this user may not mount one']),
    ...(s3ServerPath ? [] : ['tests on S3: TEST_S3_SERVER does not name a versitygw']),
    ...(redisJsonPath ? [] : ['tests on RedisJSON: TEST_REDISJSON does not name a rejson.so']),
  ];
}

/** The part of it that CI must have. */
export function lacking(): string[] {
  return [
    ...(serverUrl ? [] : ['tests on a PostgreSQL server: TEST_DATABASE_URL is not set']),
    ...(redisUrl ? [] : ['tests on Redis: TEST_REDIS_URL is not set']),
    ...(redisServerPath ? [] : ['tests of Redis settings: there is no redis-server']),
    ...(clamdPath ? [] : ['tests on the ClamAV daemon: there is no clamd']),
    ...(softhsm ? [] : ['tests of keys in a PKCS #11 module: there is no SoftHSM (softhsm2)']),
    ...(p11kit ? [] : ['tests of a PKCS #11 module that goes away: there is no p11-kit (p11-kit, p11-kit-modules)']),
    ...(pythonPath ? [] : ['tests of the Python link: there is no python3 (TEST_PYTHON)']),
    ...(pythonPath && !hasRedisPy ? ['tests of the Python link on Redis: its Python has no redis-py'] : []),
    ...(pythonPath && !hasPythonCryptography ? ['the second verifier: its Python has no cryptography library'] : []),
    ...(pythonPath && !hasMailServer ? ['faults before a real SMTP server: its Python has no aiosmtpd'] : []),
    ...(faketimeLibrary ? [] : ['two nodes of which one has a wrong clock: there is no libfaketime (faketime)']),
    ...(hasOpenssl ? [] : ['checks of raw signatures: there is no openssl']),
    ...(chromiumPath ? [] : ['tests in a browser: there is no Chromium']),
  ];
}
