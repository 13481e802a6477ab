import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { keySet } from '../cli/verify-rig.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { sampleSigners } from '../core/verify/sample-transparent-statement.js';
import { hasPythonCryptography } from '../support/prerequisites.js';
import { startPythonVerifier } from './python-verifier.js';

const folder = mkdtempSync(join(tmpdir(), 'log-names-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.skipIf(!hasPythonCryptography)(
  'the second verifier takes seals of one tenancy under two issuers for one log, and those of two tenancies for two',
  async () => {
    const keys = join(folder, 'keys.json');
    writeFileSync(keys, keySet(sampleSigners.sealer));
    const log = sampleSealedLog({ leaves: 8 });
    const python = startPythonVerifier();
    const judge = async (newer: typeof log, older = log) => {
      const files = { '0.log': log.massif(0), '0.sth': await older.seal(4), '1.log': log.massif(1) };
      const given = { ...files, '1.sth': await newer.seal(8) };
      const { outcome, contradictions = [] } = await python.judge(given, { log_keys: [keys], issuer_keys: [] });
      return [outcome, ...contradictions.map(({ code }) => code)];
    };
    const moved = { leaves: 8, issuer: 'https://moved.example' };
    const subject = 'tenant/9f4b1d8a-0000-4000-8000-000000000000';
    const nameless = { leaves: 8, subject: 'a log' };
    expect(await judge(sampleSealedLog(moved))).toEqual(['verified']);
    expect(await judge(sampleSealedLog({ leaves: 8, subject }))).toEqual(['refused', 'log_mismatch']);
    expect(await judge(sampleSealedLog({ ...moved, ...nameless }), sampleSealedLog(nameless))).toEqual([
      'refused',
      'log_mismatch',
    ]);
    await python.close();
  },
);
