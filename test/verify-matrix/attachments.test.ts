import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../src/core/bytes.js';
import { sha256 } from '../../src/core/sha256.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { sampleVerdict } from '../core/evidence/sample-verdict.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';

const { rig, judged } = bothVerifiers('attachments');

interface Answer {
  readonly outcome: string;
  readonly claims: readonly { readonly kind: string; readonly facts: object; readonly by: readonly object[] }[];
  readonly contradictions: readonly { readonly code: string; readonly detail: string }[];
  readonly not_covered: readonly { readonly why: string; readonly detail: string }[];
  readonly missing: readonly { readonly what: string }[];
}

const codes = ({ outcome, contradictions = [] }: Partial<Answer>) => [
  outcome,
  ...contradictions.map(({ code }) => code),
];
const documentsOf = (claims: Answer['claims']) =>
  claims.filter(({ kind }) => kind === 'document').map(({ facts }) => facts);

/** The answer of the command line; the second verifier must say the same of the outcome and of the documents. */
async function told(event: object, files: GivenFiles): Promise<Answer> {
  const log = sampleSealedLog({ leaves: 1, event: () => event });
  const all = { 'event.json': utf8(JSON.stringify(log.events[0])), 'receipt.cose': await log.receipt(0), ...files };
  return judged<Answer>(all, (answer) => [codes(answer), documentsOf(answer.claims ?? [])]);
}

const ATTACHED = utf8('what was attached');
const attachment = (alg = 'SHA256', digest = toHex(sha256(ATTACHED))) => ({
  arc_attribute_type: 'arc_attachment',
  arc_blob_hash_alg: alg,
  arc_blob_hash_value: digest,
});
const about = sampleAttributes(SAMPLE_VCON);

describe('a file that proven attributes name as attached', () => {
  it.each<[string, object]>([
    ['of the event', { event_attributes: { file: attachment() } }],
    ['of the event, beside a payload', { event_attributes: { ...about, file: attachment() } }],
    ['of the asset, in a list', { asset_attributes: { files: [attachment('SHA256', '00'), attachment('sha-256')] } }],
  ])('is matched: %s', async (_, event) => {
    const { outcome, claims } = await told(event, { 'att.txt': ATTACHED });
    const [claim] = claims.filter(({ kind }) => kind === 'document');
    expect([outcome, claim?.facts]).toEqual([
      'verified',
      { form: 'raw', payload_hash: toHex(sha256(ATTACHED)), payload_hash_alg: 'SHA-256' },
    ]);
    expect(claim?.by).toEqual([{ type: 'digest', of: expect.stringMatching(/event$/), member: 'members' }]);
  });

  it('is not the conversation, which stays missing', async () => {
    const statement = await sampleStatement(about);
    const { event, mmrReceipt } = await logged(sampleAssetEvent({ ...about, file: attachment() as never }));
    const rfc9162Receipt = await statementLogReceipt(statement);
    const whole = assembleTransparentStatement(statement, { rfc9162Receipt, mmrReceipt, event });
    for (const [file, isMissing] of [[ATTACHED, true] as const, [SAMPLE_VCON, false] as const]) {
      const { outcome, missing } = await sampleVerdict({ 'call.cose': whole, file }, SAMPLE_ISSUER);
      expect([outcome, missing.some(({ what }) => what === 'document')]).toEqual(['verified', isMissing]);
    }
  });

  it('is matched beside the conversation', async () => {
    const event = { event_attributes: { ...about, file: attachment() } };
    const both = await told(event, { 'att.txt': ATTACHED, 'call.json': SAMPLE_VCON });
    expect([both.outcome, documentsOf(both.claims).length]).toEqual(['verified', 2]);
  });

  it('is a document although its form is one of evidence', async () => {
    const zip = utf8('PK\u0003\u0004 no bundle');
    const event = { event_attributes: { file: attachment('SHA256', toHex(sha256(zip))) } };
    const log = sampleSealedLog({ leaves: 1, event: () => event });
    const files = { 'e.json': utf8(JSON.stringify(log.events[0])), 'r.cose': await log.receipt(0), 'att.zip': zip };
    const paths = Object.entries(files).map(([name, bytes]) => rig.file(name, bytes));
    expect((JSON.parse((await rig.verify('--json', ...paths)).out) as Answer).outcome).toBe('verified');
  });
});

describe('a file that they do not name is answered as before', () => {
  const other = utf8('what was attached, and changed');
  it('refused beside a payload', async () => {
    const answer = await told({ event_attributes: { ...about, file: attachment() } }, { 'att.txt': other });
    expect(codes(answer)).toEqual(['refused', 'payload_hash_mismatch']);
  });

  it.each([attachment(), attachment('MD5'), { arc_blob_hash_value: toHex(sha256(other)) }])(
    'unproven without one: %j',
    async (file) => {
      const { outcome, not_covered } = await told({ event_attributes: { file } }, { 'att.txt': other });
      expect(outcome).toBe('incomplete');
      expect(not_covered.map(({ detail }) => detail)).toContain('nothing proven names its digest');
    },
  );
});
