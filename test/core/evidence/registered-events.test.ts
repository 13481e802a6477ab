import { describe, expect, it } from 'vitest';
import { toBase64, utf8 } from '../../../src/core/bytes.js';
import { tenancyLogSubject } from '../../../src/core/receipt/log-claims.js';
import { assembleTransparentStatement } from '../../../src/core/statement/transparent-statement.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_TENANCY_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../verify/sample-transparent-statement.js';
import { sampleVerdict } from './sample-verdict.js';

const OTHER = '9f4b1d8a-0000-4000-8000-000000000000';
/** An issuer that is no tenancy of the service. */
const FOREIGN = 'did:web:other.example:issuer';
const json = (value: unknown) => utf8(JSON.stringify(value));

async function verdictOf(files: Readonly<Record<string, Uint8Array>>, issuer: string, hasIssuers = true) {
  const { outcome, contradictions } = await sampleVerdict(files, issuer, hasIssuers);
  return [outcome, contradictions.map(({ code }) => code)];
}

describe('an event that carries a registered statement, under a pinned issuer', () => {
  it('is refused where another tenancy put the statement beside another payload', async () => {
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
    const tampered = utf8(new TextDecoder().decode(SAMPLE_VCON).replace('"dialog": []', '"dialog": [{}]'));
    const attributes = { ...sampleAttributes(tampered), signed_statement: toBase64(statement) };
    const forged = { ...sampleAssetEvent(attributes), tenant_identity: `tenant/${OTHER}` };
    const log = { ...SAMPLE_TENANCY_LOG, subject: tenancyLogSubject(OTHER) };
    const { event, mmrReceipt } = await logged(forged, sampleSigners.sealer, log);
    const files = { 's.cose': statement, 'r.cose': await statementLogReceipt(statement), 'vcon.json': tampered };
    const [outcome, codes] = await verdictOf({ ...files, 'e.json': json(event), 'er.cose': mmrReceipt }, SAMPLE_ISSUER);
    expect([outcome, codes]).toEqual(['refused', ['issuer_key_not_trusted']]);
  });

  it('counts for the issuer of that statement, plain or transparent, and is unproven where its signature was not checked', async () => {
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON), sampleSigners.stranger, FOREIGN);
    const rfc9162Receipt = await statementLogReceipt(statement);
    const attributes = { ...sampleAttributes(SAMPLE_VCON), signed_statement: toBase64(statement) };
    const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));
    const files = { 'e.json': json(event), 'er.cose': mmrReceipt };
    const plain = { ...files, 's.cose': statement, 'r.cose': rfc9162Receipt };
    const transparent = { ...files, 'ts.cose': assembleTransparentStatement(statement, { rfc9162Receipt }) };
    expect(await verdictOf(plain, FOREIGN)).toEqual(['verified', []]);
    expect(await verdictOf(transparent, FOREIGN)).toEqual(['verified', []]);
    expect(await verdictOf(plain, FOREIGN, false)).toEqual(['incomplete', []]);
    expect(await verdictOf(files, FOREIGN)).toEqual(['incomplete', []]);
    expect(await verdictOf(files, 'did:web:another.example')).toEqual(['refused', ['issuer_key_not_trusted']]);
  });
});
