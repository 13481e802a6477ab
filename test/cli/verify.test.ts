import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run-cli.js';
import { fromHex } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import type { FrozenEvidence } from '../core/browser-self-check.js';
import { readFixture } from '../core/cose/read-fixture.js';
import { SAMPLE_ISSUER, SAMPLE_TENANCY } from '../core/verify/sample-transparent-statement.js';
import { commandLine } from '../support/command-line.js';

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

const run = (...args: string[]) => commandLine(args);

function verify(...args: string[]) {
  return run('verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, ...args);
}

/** The JSON form of a verdict, as far as these tests read it. */
interface Answer {
  readonly schema: string;
  readonly outcome: string;
  readonly files: readonly { readonly file: string; readonly kind: string }[];
  readonly claims: readonly {
    readonly kind: string;
    readonly piece: string;
    readonly facts: Record<string, unknown>;
  }[];
  readonly contradictions: readonly { readonly code: string; readonly piece: string }[];
  readonly not_covered: readonly { readonly piece: string; readonly members: string[]; readonly why: string }[];
  readonly missing: readonly { readonly what: string }[];
  readonly error?: string;
}

async function answer(...args: string[]): Promise<Answer & { readonly exitCode: number }> {
  const { out, exitCode } = await verify('--json', ...args);
  return { ...(JSON.parse(out) as Answer), exitCode };
}

describe('vcon-archivist verify', () => {
  it('exits 2, which is no verdict, if what it found cannot be written', () => {
    const program = fileURLToPath(new URL('../../dist/src/cli/vcon-archivist.js', import.meta.url));
    const args = ['verify', vcon, statement, '--log-keys', logKeys, '--issuer-keys', issuerKeys];
    const full = openSync('/dev/full', 'w');
    const run = (out: number | 'pipe') =>
      spawnSync(process.execPath, [program, ...args], { stdio: ['ignore', out, 'pipe'], encoding: 'utf8' });
    const { status, stderr } = run(full);
    closeSync(full);
    expect([status, stderr]).toEqual([2, 'error: the output cannot be written: the disk is full (ENOSPC)\n']);
    expect(run('pipe').status).toBe(0);
  });

  it('prints the outcome and who speaks first, then facts with what proves them, and exits 0', async () => {
    const { out, exitCode } = await verify(vcon, statement);
    expect(exitCode).toBe(0);
    expect(out.split('\n')[0]).toBe(
      `VERIFIED. This is what tenancy ${SAMPLE_TENANCY} of https://archive.example recorded. No issuer was pinned (--issuer).`,
    );
    expect(out).toMatch(/^Proven:$/m);
    expect(out).toMatch(/^ {4}operation +vcon_created$/m);
    expect(out).toMatch(/^ {4}proven by +signature of did:web:archive\.example.*, key [0-9a-f]{16}…/m);
    expect(out).toMatch(
      /^ {4}proven by +log "statements\/private" of https:\/\/archive\.example, index 4 of 7 entries/m,
    );
    expect(out).toContain('the file as it is');
  });

  it('says nothing of a missing pin when the issuer is pinned, and refuses another one', async () => {
    const { out, exitCode } = await verify('--issuer', SAMPLE_ISSUER, vcon, statement);
    expect([exitCode, out.split('\n')[0]]).toEqual([
      0,
      `VERIFIED. This is what tenancy ${SAMPLE_TENANCY} of https://archive.example recorded.`,
    ]);
    expect((await answer('--issuer', ` ${SAMPLE_ISSUER} `, vcon, statement)).exitCode).toBe(0);
    const other = await answer('--issuer', SAMPLE_ISSUER.replace(/.$/, '9'), vcon, statement);
    expect([other.exitCode, other.contradictions[0]?.code]).toEqual([1, 'issuer_key_not_trusted']);
  });

  it('takes the files in any order, and says what each was taken for', async () => {
    for (const files of [
      [vcon, statement],
      [statement, vcon],
    ]) {
      const { exitCode, files: takenFor } = await answer(...files);
      const kinds = { [vcon]: 'vcon', [statement]: 'transparent_statement' };
      expect([exitCode, takenFor]).toEqual([0, files.map((path) => ({ file: path, kind: kinds[path] }))]);
    }
    expect((await verify(statement, vcon)).out).toContain(`${vcon}: read as a vCon`);
  });

  it('says which form of somebody’s own copy matched', async () => {
    const copy = file('indented.json', JSON.stringify(JSON.parse(evidence.vcon), undefined, 2));
    const { out, exitCode } = await verify(copy, statement);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/hashed form +the file as the conserver writes/);
  });

  it('says what is refused and what that means, and exits 1', async () => {
    const changed = file('changed.json', evidence.vcon.replace('dialog', 'dialogue'));
    const { out, exitCode } = await verify(changed, statement);
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^REFUSED\./);
    expect(out).toContain(`${changed}, payload: `);
    expect(out).toContain('[payload_hash_mismatch]');
    expect(out).toMatch(/This is not the document that the evidence is about/);
    expect(out).toMatch(/^Proven apart from that:$/m);
  });

  it('prints one JSON document with --json, of a documented schema', async () => {
    const passed = await answer(vcon, statement);
    expect(passed).toMatchObject({ schema: 'vcon-archivist/verdict/1', outcome: 'verified', contradictions: [] });
    expect(passed.claims.map(({ kind, piece }) => [kind, piece])).toEqual([
      ['statement', `${statement}/statement`],
      ['event', `${statement}/event`],
      ['document', vcon],
    ]);
    const stripped = await answer(vcon, without(394));
    expect([stripped.exitCode, stripped.outcome]).toEqual([3, 'incomplete']);
    expect(stripped.not_covered.map(({ why }) => why)).toContain('unproven');
  });

  it('checks a statement without its vCon, and says that none was given', async () => {
    const open = await answer(statement);
    expect([open.exitCode, open.missing.map(({ what }) => what)]).toEqual([0, ['issuer', 'document']]);
    const only = await answer('--statement-only', statement);
    expect([only.exitCode, only.missing.map(({ what }) => what)]).toEqual([0, ['issuer']]);
  });

  it('shows no member of an event that it cannot prove, and exits 3', async () => {
    const { out, exitCode } = await verify(vcon, without(394));
    expect(exitCode).toBe(3);
    expect(out).toMatch(/^INCOMPLETE\. Nothing false was found/);
    expect(out).toMatch(/event \(NOT PROVEN: no receipt shows that a log holds the event/);
    expect(out).not.toContain('recorded by');
  });

  it('names a receipt that came without its event, and is content with the other one', async () => {
    const { out, exitCode } = await verify(vcon, without('event'));
    expect(exitCode).toBe(0);
    expect(out).toContain('tenancy_log_receipt (not evidence: without its event the receipt proves nothing)');
    expect(out).not.toContain('recorded by');
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

  it.each<[string, string | Uint8Array, string]>([
    ['words', 'garbage', 'unknown'],
    ['a vCon', evidence.vcon, 'vcon'],
    ['another JSON document', '{"a":1}', 'json'],
    ['a picture', fromHex('89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de'), 'image/png'],
    ['published keys', JSON.stringify(evidence.issuerJwks), 'keys'],
  ])('takes %s for no evidence and exits 2, naming what it was taken for', async (_, content, kind) => {
    const given = file('no-evidence', content);
    for (const args of [[given], [vcon, given], [given, vcon]]) {
      const { exitCode, outcome, error, files } = await answer(...args);
      expect([exitCode, outcome]).toEqual([2, 'unreadable']);
      expect(files).toContainEqual({ file: given, kind });
      expect(error).toContain('none of the files is evidence');
      expect(error).not.toContain('damaged');
    }
  });

  it('gives no verdict when the check itself fails: exits 2, not 1', async () => {
    const complaints: string[] = [];
    const terminal = {
      print: () => {
        throw new Error('nobody reads this');
      },
      complain: (text: string) => complaints.push(text),
      exitCode: 0,
    };
    await runCli(['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, vcon, statement], terminal);
    expect(terminal.exitCode).toBe(2);
    expect(complaints.join()).toMatch(/^error: the check itself failed: Error: nobody reads this/);
  });

  it('refuses what begins as evidence and is damaged', async () => {
    const { exitCode, contradictions } = await answer(vcon, file('cut.cose', statementBytes.slice(0, 200)));
    expect([exitCode, contradictions[0]?.code]).toEqual([1, 'malformed']);
  });

  it('refuses a document that the statement is not about, beside one that it is about', async () => {
    const picture = file('photo.png', fromHex('89504e470d0a1a0a0000000d49484452'));
    const { exitCode, contradictions } = await answer(picture, statement, vcon);
    expect([exitCode, contradictions]).toMatchObject([1, [{ code: 'payload_hash_mismatch', piece: picture }]]);
  });

  it('says where keys come from when none were given', async () => {
    for (const given of [
      ['--issuer-keys', issuerKeys],
      ['--log-keys', logKeys],
    ]) {
      const { err, exitCode } = await run('verify', ...given, vcon, statement);
      expect([exitCode, err]).toEqual([2, expect.stringMatching(/scitt-keys .*didweb\/did\.json/)]);
    }
  });

  it.each<[string, () => string[]]>([
    ['no command', () => []],
    ['an unknown command', () => ['verfy']],
    ['an unknown option', () => ['verify', '--online', vcon, statement]],
    ['no log keys', () => ['verify', '--issuer-keys', issuerKeys, vcon, statement]],
    ['no files', () => ['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys]],
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
    expect(JSON.parse(out)).toMatchObject({ outcome: 'unreadable', error: expect.stringContaining('none') });
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
    [3, () => [vcon, without(394)]],
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
