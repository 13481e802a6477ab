import { zipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import {
  logged,
  sampleAssetEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { keySet, verifyRig } from './verify-rig.js';

const { file, verify, remove } = verifyRig('verify-named-documents');
afterAll(remove);

const json = (value: unknown) => utf8(JSON.stringify(value));

/** What evidence can be about although it looks like evidence itself. */
const DOCUMENTS: readonly (readonly [name: string, bytes: () => Promise<Uint8Array>])[] = [
  ['a text document, which is a zip', async () => zipSync({ '[Content_Types].xml': utf8('<Types/>') })],
  [
    'a signed statement of somebody else',
    async () => sampleStatement(sampleAttributes(utf8('x')), sampleSigners.stranger),
  ],
  ['a JSON document with the identity of an event', async () => json({ identity: 'events/1', text: 'an order' })],
  ['a set of keys', async () => utf8(keySet(sampleSigners.stranger))],
];

/** Evidence about bytes, in every form that names a digest. */
async function evidenceAbout(bytes: Uint8Array): Promise<(readonly [form: string, files: readonly string[]])[]> {
  const attributes = sampleAttributes(bytes);
  const statement = await sampleStatement(attributes);
  const rfc9162Receipt = await statementLogReceipt(statement);
  const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));
  const whole = assembleTransparentStatement(statement, { rfc9162Receipt, mmrReceipt, event });
  return [
    ['a transparent statement', [file('transparent.cose', whole)]],
    ['a statement and its receipt', [file('statement.cose', statement), file('receipt.cose', rfc9162Receipt)]],
    ['an event and its receipt', [file('event.json', json(event)), file('event.cose', mmrReceipt)]],
    ['a bundle', [file('bundle.zip', zipSync({ 'transparent-statement.cose': whole }))]],
  ];
}

describe.each(DOCUMENTS)('%s', (_, bytesOf) => {
  it('is the document that evidence names by its hash, whatever the evidence is and however the files are ordered', async () => {
    const bytes = await bytesOf();
    const document = file('document', bytes);
    for (const [form, files] of await evidenceAbout(bytes))
      for (const order of [
        [document, ...files],
        [...files, document],
      ]) {
        const { out, exitCode } = await verify('--json', ...order);
        const { claims, contradictions, not_covered } = JSON.parse(out) as {
          claims: { kind: string; piece: string }[];
          contradictions: [];
          not_covered: { piece: string; why: string; detail: string }[];
        };
        const matched = claims.filter(({ kind }) => kind === 'document').map(({ piece }) => piece);
        expect([form, contradictions, matched]).toEqual([form, [], [document]]);
        expect([0, 3]).toContain(exitCode);
        const named = not_covered.find(({ piece }) => piece === document);
        expect([named?.why, named?.detail]).toEqual(['explanation', expect.stringContaining('it was not checked')]);
      }
  });
});

describe('a file of keys', () => {
  it('that is not the document that the evidence names is not passed over where no other document is given', async () => {
    const keys = utf8(keySet(sampleSigners.stranger));
    const altered = file('altered.json', utf8(keySet(sampleSigners.stranger, sampleSigners.issuer)));
    for (const [form, files] of await evidenceAbout(keys)) {
      const { out, exitCode } = await verify('--json', altered, ...files);
      expect([form, exitCode, JSON.parse(out).outcome]).toEqual([form, 3, 'incomplete']);
    }
    const document = file('document.json', keys);
    const [[, statement]] = (await evidenceAbout(keys)) as [readonly [string, readonly string[]]];
    expect((await verify(altered, document, ...statement)).exitCode).toBe(0);
  });
});
