import { zipSync } from 'fflate';
import { expect, it } from 'vitest';
import { bundleIndex, encodeBundleIndex, INDEX_PATH } from '../../../src/core/bundle/bundle-index.js';
import { utf8 } from '../../../src/core/bytes.js';
import type { CborValue } from '../../../src/core/cose/cbor.js';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleStatement,
  statementLogReceipt,
} from '../verify/sample-transparent-statement.js';
import { sampleVerdict } from './sample-verdict.js';

const attributes = sampleAttributes(SAMPLE_VCON);
const statement = await sampleStatement(attributes);
const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));
const receipt = withHeader(await statementLogReceipt(statement), 'note', 'approved by the board');
const eventReceipt = withHeader(mmrReceipt, 99, 'the customer agreed');
const json = utf8(JSON.stringify(event));

function withHeader(message: Uint8Array, label: number | string, value: CborValue): Uint8Array {
  const sign1 = decodeSign1(message);
  return encodeSign1({ ...sign1, unprotectedHeader: new Map([...sign1.unprotectedHeader, [label, value]]) });
}

function carrying(): Uint8Array {
  const header = new Map<number | string, CborValue>([[394, [receipt, eventReceipt]]]);
  return encodeSign1({ ...decodeSign1(statement), unprotectedHeader: header.set('event', JSON.stringify(event)) });
}

function bundle(): Uint8Array {
  const files = { 'event.json': json, 'tenancy-log-receipt.cose': eventReceipt };
  const operation = { number: 1, folder: '', identity: event.identity };
  return zipSync({ ...files, [INDEX_PATH]: encodeBundleIndex(bundleIndex(files, [operation])) });
}

it.each<[string, Record<string, Uint8Array>, string[]]>([
  [
    'a single file',
    { 's.cose': statement, 'r.cose': receipt, 'e.json': json, 'm.cose': eventReceipt },
    ['r.cose', 'm.cose'],
  ],
  ['a transparent statement', { 't.cose': carrying() }, ['t.cose/statement_log_receipt', 't.cose/tenancy_log_receipt']],
  ['a bundle', { 'b.zip': bundle() }, ['b.zip/tenancy-log-receipt.cose']],
])('an unprotected header of a receipt is named as covered by nothing: the receipt is %s', async (_, files, pieces) => {
  const { outcome, notCovered } = await sampleVerdict({ ...files, 'vcon.json': SAMPLE_VCON }, SAMPLE_ISSUER);
  expect(outcome).toBe('verified');
  expect(
    notCovered
      .filter(({ members }) => members[0]?.startsWith('header '))
      .map(({ piece, why, members }) => [piece, why, members]),
  ).toEqual(
    pieces.map((piece) => [piece, 'by_design', [/statement_log|r\.cose/.test(piece) ? 'header note' : 'header 99']]),
  );
});
