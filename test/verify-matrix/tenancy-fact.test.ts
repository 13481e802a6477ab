import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { keySet, verifyRig } from '../cli/verify-rig.js';
import {
  SAMPLE_ISSUER,
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import type { ShownClaim } from '../core/verify/verdict-facts.js';
import { hasPythonCryptography } from '../support/prerequisites.js';
import { startPythonVerifier } from './python-verifier.js';

const { issuer, statementLog, sealer } = sampleSigners;
const rig = verifyRig('tenancy-fact');
const folder = mkdtempSync(join(tmpdir(), 'tenancy-fact-'));
const keyFile = (name: string, ...signers: (typeof issuer)[]) => {
  writeFileSync(join(folder, name), keySet(...signers));
  return [join(folder, name)];
};
const keys = { log_keys: keyFile('logs.json', statementLog, sealer), issuer_keys: keyFile('issuer.json', issuer) };
const python = hasPythonCryptography ? startPythonVerifier() : undefined;
afterAll(async () => {
  await python?.close();
  rig.remove();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly claims?: readonly ShownClaim[];
}
const facts = ({ claims = [] }: Answer) => {
  const { issuer: name, tenancy } = claims[0]!.facts as Record<string, string>;
  return { name, tenancy };
};

/** The facts of a statement of this issuer, as both verifiers show them. */
async function shown(name: string, { pin, isLogged = true }: { pin?: string; isLogged?: boolean } = {}) {
  const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON), issuer, name);
  const files = { 'a.cose': statement, ...(isLogged ? { 'b.cose': await statementLogReceipt(statement) } : {}) };
  const paths = Object.entries(files).map(([file, bytes]) => rig.file(file, bytes));
  const { out } = await rig.verify('--json', ...(pin === undefined ? [] : ['--issuer', pin]), ...paths);
  const ours = facts(JSON.parse(out) as Answer);
  if (python) expect(facts(await python.judge(files, { ...keys, ...(pin && { issuer: pin }) }))).toEqual(ours);
  return ours;
}

it('a statement states a tenancy only if its issuer is pinned, or of the service whose log holds it', async () => {
  const other = SAMPLE_ISSUER.replace('archive.example', 'other.example');
  const below = SAMPLE_ISSUER.replace('archive.example', 'archive.example:prefix');
  const [known, unknown] = [SAMPLE_TENANCY, undefined];
  expect(await shown(SAMPLE_ISSUER)).toEqual({ name: SAMPLE_ISSUER, tenancy: known });
  expect(await shown(SAMPLE_ISSUER, { isLogged: false })).toEqual({ name: SAMPLE_ISSUER, tenancy: unknown });
  expect(await shown(SAMPLE_ISSUER, { isLogged: false, pin: SAMPLE_ISSUER })).toMatchObject({ tenancy: known });
  for (const name of [other, below]) expect(await shown(name)).toEqual({ name, tenancy: unknown });
  expect(await shown(other, { pin: other })).toEqual({ name: other, tenancy: known });
});
