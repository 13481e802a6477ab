import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { bundleIndex, encodeBundleIndex, INDEX_PATH } from '../../../src/core/bundle/bundle-index.js';
import { utf8 } from '../../../src/core/bytes.js';
import { createSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { assetFreeRecordDigest } from '../../../src/core/event/asset-free-record.js';
import type { AssetFreeEventDocument } from '../../../src/core/statement/event-document.js';
import { eventStatement } from '../../../src/core/statement/event-statement.js';
import { assembleTransparentStatement } from '../../../src/core/statement/transparent-statement.js';
import { readTemplate } from '../../../src/core/statement/vcon-template.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAssetFreeEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../verify/sample-transparent-statement.js';
import { sampleVerdict } from './sample-verdict.js';

type Files = Readonly<Record<string, Uint8Array>>;

const { issuer } = sampleSigners;
const OTHER_IDENTITY = 'events/0192e8f5-3333-7000-8000-00000000000f';
const json = (value: unknown) => utf8(JSON.stringify(value));

/** The outcome with the keys of the samples, and what is refused. */
async function verdictOf(files: Files, hasIssuers = true) {
  const { outcome, contradictions } = await sampleVerdict(files, SAMPLE_ISSUER, hasIssuers);
  return [outcome, ...contradictions.map(({ code, piece }) => `${piece}: ${code}`)];
}

type Stating = 'its vCon operation' | 'only its record' | 'no record';

/** An asset-free event with everything that proves it. */
async function evidenceOf(stating: Stating, more: Partial<AssetFreeEventDocument> = {}) {
  const attributes = stating === 'only its record' ? { note: 'hello' } : sampleAttributes(SAMPLE_VCON);
  const unplaced = { ...sampleAssetFreeEvent(attributes), created_at: '1737045159000', ...more };
  const { event, mmrReceipt } = await logged(unplaced);
  const statement = await statementOf(event, stating);
  const rfc9162Receipt = await statementLogReceipt(statement);
  const transparent = assembleTransparentStatement(statement, { rfc9162Receipt, mmrReceipt, event });
  const bundled = {
    'event.json': json(event),
    'transparent-statement.cose': transparent,
    'tenancy-log-receipt.cose': mmrReceipt,
  };
  const operation = { number: 1, folder: '', identity: event.identity };
  const index = encodeBundleIndex(bundleIndex(bundled, [operation]));
  const bundle = zipSync({ ...bundled, [INDEX_PATH]: index });
  return { event, mmrReceipt, statement, rfc9162Receipt, transparent, bundle };
}

async function statementOf(event: AssetFreeEventDocument, stating: Stating): Promise<Uint8Array> {
  if (stating === 'no record') return sampleStatement(event.attributes as Record<string, string>);
  const record = {
    identity: event.identity,
    digest: assetFreeRecordDigest({ ...event, event_type: event.event_type! }),
  };
  const template = readTemplate(event.attributes);
  const of = template ? { template, record } : { record };
  const { header, payload } = eventStatement(of, { ...issuer, issuer: SAMPLE_ISSUER });
  return encodeSign1(await createSign1(header, payload, issuer));
}

type Evidence = Awaited<ReturnType<typeof evidenceOf>>;

/** The other pieces that state an event, each with what proves it. */
const beside = ({ transparent, bundle, event, mmrReceipt }: Evidence): readonly Files[] => [
  { 't.cose': transparent },
  { 'b.zip': bundle },
  { 'a.json': json(event), 'ar.cose': mmrReceipt },
];

describe.each<Stating>(['its vCon operation', 'only its record', 'no record'])(
  'an asset-free event whose statement states %s',
  (stating) => {
    it('is verified in a file beside each piece that states the same event, with a receipt of its own or without', async () => {
      const evidence = await evidenceOf(stating);
      for (const piece of beside(evidence)) {
        const files = { ...piece, 'e.json': json({ ...evidence.event, confirmation_status: 'CONFIRMED' }) };
        expect(await verdictOf(files)).toEqual(['verified']);
        expect(await verdictOf({ ...files, 'r.cose': evidence.mmrReceipt })).toEqual(['verified']);
      }
    });

    it('is refused in a file that gives it another identity, with a receipt of its own or without', async () => {
      const evidence = await evidenceOf(stating);
      const forged = json({ ...evidence.event, identity: OTHER_IDENTITY });
      for (const piece of beside(evidence)) {
        const files = { ...piece, 'e.json': forged };
        expect(await verdictOf(files)).toEqual(['refused', 'e.json: event_mismatch']);
        expect(await verdictOf({ ...files, 'r.cose': evidence.mmrReceipt })).toEqual([
          'refused',
          'e.json: event_mismatch',
        ]);
      }
    });

    it('is refused where another event of the log is given under its identity', async () => {
      const evidence = await evidenceOf(stating);
      const other = await evidenceOf('its vCon operation', { trails: ['another'] });
      for (const piece of beside(evidence)) {
        const files = { ...piece, 'e.json': json(other.event), 'r.cose': other.mmrReceipt };
        expect(await verdictOf(files)).toEqual(['refused', 'e.json: event_mismatch']);
      }
    });
  },
);

describe('a statement that is only about the record of an asset-free event', () => {
  it('refuses another event in a file with that identity, also if nobody’s signature was checked', async () => {
    const { event, mmrReceipt, statement, rfc9162Receipt } = await evidenceOf('only its record');
    const other = await evidenceOf('its vCon operation');
    const spoken = { 's.cose': statement, 'sr.cose': rfc9162Receipt };
    const forged = { 'e.json': json(other.event), 'r.cose': other.mmrReceipt };
    expect(other.event.identity).toBe(event.identity);
    expect(await verdictOf({ ...spoken, 'e.json': json(event), 'r.cose': mmrReceipt })).toEqual(['verified']);
    expect(await verdictOf({ ...spoken, ...forged })).toEqual(['refused', 'e.json: event_mismatch']);
    expect(await verdictOf({ ...spoken, ...forged }, false)).toEqual(['refused', 'e.json: event_mismatch']);
    const alone = assembleTransparentStatement(statement, { rfc9162Receipt });
    expect(await verdictOf({ 't.cose': alone, ...forged })).toEqual(['refused', 'e.json: event_mismatch']);
  });
});

describe('an event of an asset', () => {
  it('is refused where the log holds another one with its identity, with a receipt of its own or without', async () => {
    const attributes = sampleAttributes(SAMPLE_VCON);
    const statement = await sampleStatement(attributes);
    const rfc9162Receipt = await statementLogReceipt(statement);
    const whole = assembleTransparentStatement(statement, {
      rfc9162Receipt,
      ...(await logged(sampleAssetEvent(attributes))),
    });
    const { event, mmrReceipt } = await logged(sampleAssetEvent({ ...attributes, note: 'another' }));
    const files = { 't.cose': whole, 'e.json': json(event) };
    expect(await verdictOf(files)).toEqual(['refused', 'e.json: event_mismatch']);
    expect(await verdictOf({ ...files, 'r.cose': mmrReceipt })).toEqual(['refused', 'e.json: event_mismatch']);
  });
});

describe('a single receipt', () => {
  it('proves every copy of its event and of its statement', async () => {
    const { event, mmrReceipt, statement, rfc9162Receipt } = await evidenceOf('its vCon operation');
    const events = { 'e.json': json(event), 'copy.json': json(event), 'list.json': json({ events: [event, event] }) };
    expect(await verdictOf({ ...events, 'r.cose': mmrReceipt })).toEqual(['verified']);
    const bare = assembleTransparentStatement(statement, { rfc9162Receipt });
    const statements = { 's.cose': statement, 'copy.cose': statement, 't.cose': bare };
    expect(await verdictOf({ ...statements, 'r.cose': rfc9162Receipt })).toEqual(['verified']);
  });
});
