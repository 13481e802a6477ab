import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run-cli.js';
import { fromHex } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import type { VerificationReport } from '../../src/core/verify/verification-report.js';
import type { FrozenEvidence } from '../core/browser-self-check.js';
import { readFixture } from '../core/cose/read-fixture.js';

const evidence = readFixture<FrozenEvidence>('transparent-statement');
const folder = mkdtempSync(join(tmpdir(), 'verify-'));
const statementBytes = fromHex(evidence.transparentStatementHex);
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const vcon = file('vcon.json', evidence.vcon);
const statement = file('statement.cose', statementBytes);
const logKeys = file('log-keys.cbor', fromHex(evidence.logKeysHex));
const issuerKeys = file('jwks.json', JSON.stringify(evidence.issuerJwks));

/** A good statement whose unprotected header lacks a label. */
function without(label: number | string): string {
  const sign1 = decodeSign1(statementBytes);
  const unprotectedHeader = new Map(sign1.unprotectedHeader);
  unprotectedHeader.delete(label);
  return file(`without-${label}.cose`, encodeSign1({ ...sign1, unprotectedHeader }));
}

async function run(...args: string[]): Promise<{ out: string; err: string; exitCode: number }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { print: (text: string) => out.push(text), complain: (text: string) => err.push(text), exitCode: 0 };
  await runCli(args, terminal);
  return { out: out.join('\n'), err: err.join('\n'), exitCode: terminal.exitCode };
}

function verify(...args: string[]) {
  return run('verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, ...args);
}

describe('vcon-archivist verify', () => {
  it('prints the verdict and one line a step, and exits 0', async () => {
    const { out, exitCode } = await verify(vcon, statement);
    expect(exitCode).toBe(0);
    expect(out.split('\n').map((line) => line.replace(/:.*/, ''))).toEqual([
      'VERIFIED.',
      '',
      'ok           payload hash',
      'ok           statement signature',
      'ok           statement-log inclusion path',
      'ok           statement-log receipt signature',
      'ok           tenancy-log inclusion path',
      'ok           tenancy-log receipt signature',
      'ok           event matches statement',
    ]);
    expect(out).toContain('of the file as it is');
  });

  it('says which form of somebody’s own copy matched', async () => {
    const copy = file('indented.json', JSON.stringify(JSON.parse(evidence.vcon), undefined, 2));
    const { out, exitCode } = await verify(copy, statement);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/payload hash: SHA-256 [0-9a-f]{64} of the file as the conserver writes/);
  });

  it('says which step failed and what that means, and exits 1', async () => {
    const changed = file('changed.json', evidence.vcon.replace('dialog', 'dialogue'));
    const { out, exitCode } = await verify(changed, statement);
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^REFUSED {6}payload hash: .*\[payload_hash_mismatch\]$/m);
    expect(out).toMatch(/^NOT VERIFIED: payload hash failed\. This is not the vCon/m);
    expect(out).toMatch(/^ok {11}statement-log receipt signature/m);
  });

  it('prints one JSON document with --json, for a pass and for a refusal', async () => {
    const passed = JSON.parse((await verify('--json', vcon, statement)).out) as VerificationReport;
    expect(passed).toMatchObject({ verified: true, steps: { length: 7 } });
    const refused = await verify('--json', vcon, without(394));
    expect(refused.exitCode).toBe(1);
    const report = JSON.parse(refused.out) as VerificationReport;
    expect(report.verified).toBe(false);
    expect(report.steps[2]).toMatchObject({ step: 'statement_log_inclusion', code: 'receipt_missing' });
  });

  it('checks a statement without its vCon, and does not call the payload verified', async () => {
    const { out, exitCode } = await verify('--statement-only', statement);
    expect(exitCode).toBe(0);
    expect(out).toContain('not checked  payload hash');
    expect(out).toContain('VERIFIED as far as checked. Not checked: payload hash.');
  });

  it('never calls the MMR receipt verified without the event', async () => {
    const { out, exitCode } = await verify(vcon, without('event'));
    expect(exitCode).toBe(0);
    expect(out).toContain('not checked  tenancy-log receipt signature');
    expect(out).toContain('Not checked: tenancy-log inclusion path, tenancy-log receipt signature, event matches');
  });

  it('trusts no key but the given ones', async () => {
    const swapped = await run('verify', '--log-keys', issuerKeys, '--issuer-keys', logKeys, vcon, statement);
    expect(swapped.exitCode).toBe(1);
    expect(swapped.out).toContain('[issuer_key_not_trusted]');
    expect(swapped.out).toContain('[log_key_not_trusted]');
  });

  it('takes keys from several files, and from a DID document', async () => {
    const methods = decodeCoseKeySet(fromHex(evidence.logKeysHex)).map((publicKeyJwk, at) => ({
      id: `did:web:archive.example#key-${at}`,
      type: 'JsonWebKey2020',
      publicKeyJwk,
    }));
    const paths = methods.map((method, at) => file(`did-${at}.json`, JSON.stringify({ verificationMethod: [method] })));
    const logs = paths.flatMap((path) => ['--log-keys', path]);
    const { exitCode } = await run('verify', ...logs, '--issuer-keys', issuerKeys, vcon, statement);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['operator', ['--log-issuer', 'https://archive.example'], 0],
    ['other operator', ['--log-issuer', 'https://other.example'], 1],
    ['statement log', ['--statement-log', 'statements/private'], 0],
    ['other statement log', ['--statement-log', 'statements/public'], 1],
    ['other tenancy log', ['--tenancy-log', 'tenant/other'], 1],
  ])('pins the %s of the receipts', async (_, pins, code) => {
    const { out, exitCode } = await verify(...pins, vcon, statement);
    expect(exitCode).toBe(code);
    expect(out.includes('[log_mismatch]')).toBe(code === 1);
  });

  it('refuses a statement that is none, with exit code 1', async () => {
    const { out, exitCode } = await verify(vcon, file('garbage.cose', 'garbage'));
    expect(exitCode).toBe(1);
    expect(out).toContain('[malformed]');
  });

  it.each<[string, () => string[]]>([
    ['no command', () => []],
    ['an unknown command', () => ['verfy']],
    ['an unknown option', () => ['verify', '--online', vcon, statement]],
    ['no log keys', () => ['verify', '--issuer-keys', issuerKeys, vcon, statement]],
    ['no files', () => ['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys]],
    ['one file', () => ['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, statement]],
    ['three files', () => ['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, vcon, statement, vcon]],
    [
      'two files for --statement-only',
      () => ['verify', '--statement-only', '--log-keys', logKeys, '--issuer-keys', issuerKeys, vcon, statement],
    ],
    [
      'a missing file',
      () => ['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, vcon, join(folder, 'none')],
    ],
    ['a folder for a file', () => ['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, folder, statement]],
    ['keys that are none', () => ['verify', '--log-keys', vcon, '--issuer-keys', issuerKeys, vcon, statement]],
    [
      'no usable key',
      () => [
        'verify',
        '--log-keys',
        file('rsa.json', '{"keys":[{"kty":"RSA"}]}'),
        '--issuer-keys',
        issuerKeys,
        vcon,
        statement,
      ],
    ],
  ])('exits 2 on %s', async (_, args) => {
    const { err, exitCode } = await run(...args());
    expect(exitCode).toBe(2);
    expect(err).not.toBe('');
  });

  it('exits 2 with one JSON document when a file cannot be read under --json', async () => {
    const { out, exitCode } = await verify('--json', vcon, join(folder, 'none'));
    expect(exitCode).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ verified: false, error: expect.stringContaining('none') });
  });
});

describe('the program', () => {
  const program = join(folder, 'vcon-archivist.mjs');
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(new URL('../../src/cli/vcon-archivist.ts', import.meta.url))],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
      banner: {
        js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
      },
    });
  });

  it.each([
    [0, () => [vcon, statement]],
    [1, () => [file('other.json', '{}'), statement]],
    [2, () => [vcon, join(folder, 'none')]],
  ])('exits %i by what became of the evidence', (code, files) => {
    const args = [program, 'verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, ...files()];
    const { status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    expect(status).toBe(code);
  });

  it('says how it is used', () => {
    const { status, stdout } = spawnSync(process.execPath, [program, 'verify', '--help'], { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toContain('--log-keys');
    expect(readFileSync(program, 'utf8')).toContain('vcon-archivist');
  });
});
