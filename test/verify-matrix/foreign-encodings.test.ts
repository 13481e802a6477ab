import { describe, expect, it } from 'vitest';
import { concatBytes, toBase64 } from '../../src/core/bytes.js';
import { decodeSign1 } from '../../src/core/cose/sign1.js';
import { sha256 } from '../../src/core/sha256.js';
import { decodeStatement } from '../../src/core/statement/decode-statement.js';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import {
  logged,
  SAMPLE_VCON,
  sampleAssetEvent,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { foreignStatement, withLongHeads } from '../scitt/foreign-encoder.js';
import { sampleIssuer } from '../scitt/sample-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';
import type { PythonAnswer } from './python-verifier.js';

const { rig, judged } = bothVerifiers('foreign-encodings');
const issuer = sampleIssuer();
const key = { ...issuer.publicKey.export({ format: 'jwk' }), kid: 'testkey' };
const trust = { issuer_keys: [rig.file('foreign.json', JSON.stringify({ keys: [key] }))] };

const short = ({ outcome, claims = [], contradictions = [] }: PythonAnswer) =>
  [outcome, ...claims.map(({ kind }) => kind).sort(), ...contradictions.map(({ code }) => code)].join(' ');
const told = async (files: GivenFiles) => short(await judged<PythonAnswer>(files, short, trust));

const payload = sha256(SAMPLE_VCON);
const statement = foreignStatement(issuer, { payload });
const { protectedBytes, signature } = decodeStatement(statement);
const longer = withLongHeads(protectedBytes, payload, signature);
const receipt = await statementLogReceipt(statement);
const document = { 'call.json': SAMPLE_VCON };

describe('a statement with times that are floats, and longer heads than needed', () => {
  it('is the entry that its log holds, however its parts are written', async () => {
    expect(statementEntry(longer)).toEqual(statementEntry(statement));
    for (const bytes of [statement, longer, statementEntry(statement)]) {
      expect(await told({ 's.cose': bytes, 'r.cose': receipt, ...document })).toBe('verified document statement');
      const whole = assembleTransparentStatement(bytes, { rfc9162Receipt: receipt });
      expect(await told({ 't.cose': whole, ...document })).toBe('verified document statement');
    }
  });

  it('agrees with the event that was made from it', async () => {
    for (const bytes of [statement, longer]) {
      const event = await logged(
        sampleAssetEvent({ signed_statement: toBase64(bytes), vcon_operation: 'vcon_created' }),
      );
      const whole = assembleTransparentStatement(statement, { rfc9162Receipt: receipt, ...event });
      expect(await told({ 't.cose': whole, ...document })).toBe('verified document event statement');
    }
  });

  it('is refused with any of its times changed', async () => {
    const at = Buffer.from(statement).indexOf(Buffer.from('06fb', 'hex'));
    expect(at).toBeGreaterThan(0);
    const changed = statement.slice();
    changed[at + 9]! ^= 1;
    expect(await told({ 's.cose': changed, 'r.cose': receipt })).toMatch(/^refused/);
  });
});

describe('what a log signs stays strict:', () => {
  /** The receipt with a length of two bytes where one is enough. */
  const { protectedBytes: signed } = decodeSign1(receipt);
  const loose = concatBytes(Uint8Array.of(0xd2, 0x84, 0x59, 0, signed.length), receipt.subarray(4));

  it('a receipt with a longer head than needed is damaged', async () => {
    expect(receipt[3]).toBe(signed.length);
    expect(decodeStatement(loose).protectedBytes).toEqual(signed);
    expect(await told({ 's.cose': statement, 'r.cose': loose })).toBe('refused statement malformed');
  });
});
