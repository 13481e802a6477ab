import { expect, it } from 'vitest';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import {
  SAMPLE_ISSUER,
  SAMPLE_VCON,
  sampleAttributes,
  sampleStatement,
  statementLogReceipt,
} from '../verify/sample-transparent-statement.js';
import { sampleVerdict } from './sample-verdict.js';

it.each([true, false])(
  'unprotected headers of a loose statement are named as covered by nothing (issuer known: %s)',
  async (isKnown) => {
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
    const unprotectedHeader = new Map<number | string, string>([
      [99, 'the customer agreed'],
      ['note', 'approved by the board'],
    ]);
    const changed = encodeSign1({ ...decodeSign1(statement), unprotectedHeader });
    const files = { 's.cose': changed, 'r.cose': await statementLogReceipt(statement), 'vcon.json': SAMPLE_VCON };
    const verdict = await sampleVerdict(files, SAMPLE_ISSUER, isKnown);
    expect(verdict.outcome).toBe(isKnown ? 'verified' : 'incomplete');
    expect(verdict.notCovered).toContainEqual(
      expect.objectContaining({ piece: 's.cose/statement', why: 'by_design', members: ['header 99', 'header note'] }),
    );
  },
);
