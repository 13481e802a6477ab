import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { zipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { LAST_TIME_MS } from '../../src/core/last-time.js';
import { encodePublishedState, readSeal } from '../../src/core/receipt/seal.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  logged,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { verifyRig } from './verify-rig.js';

const { file, verify, remove } = verifyRig('odd-values');
afterAll(remove);

const log = sampleSealedLog({ leaves: 3 });
const massif = file('0.log', log.massif(0));

/** The verdict as a document, and the exit status. */
async function verdictOn(...files: string[]) {
  const { out, exitCode } = await verify('--json', ...files);
  const { outcome, contradictions } = JSON.parse(out) as { outcome: string; contradictions: { code: string }[] };
  return { exitCode, outcome, codes: contradictions.map(({ code }) => code) };
}

describe('an event of a file', () => {
  it('is refused where readers differ in its text: after a byte order mark, and with bytes that are not UTF-8', async () => {
    const marked = sampleSealedLog({ leaves: 3, event: () => ({ asset_attributes: { name: '\ufffd' } }) });
    const files = [file('marked.log', marked.massif(0)), file('marked.sth', await marked.seal(3))];
    const json = Buffer.from(JSON.stringify(marked.events[1]));
    const replaced = Buffer.from('\ufffd');
    const at = json.indexOf(replaced);
    const broken = Buffer.concat([json.subarray(0, at), Buffer.of(0xff), json.subarray(at + replaced.length)]);
    expect(await verdictOn(...files, file('event.json', json))).toMatchObject({ outcome: 'verified' });
    for (const bytes of [Buffer.concat([Buffer.from('\ufeff'), json]), broken])
      expect(await verdictOn(...files, file('other.json', bytes))).toMatchObject({ exitCode: 1, codes: ['malformed'] });
  });
});

describe('a value that no honest log writes gets a verdict', () => {
  it('proves nothing where a seal is over a size that no log has', async () => {
    const seal = await log.seal(3);
    const payload = encodePublishedState({ ...readSeal(seal).state, size: 2n });
    const halved = file('size.sth', encodeSign1({ ...decodeSign1(seal), payload }));
    expect(await verdictOn(massif, halved)).toEqual({ exitCode: 3, outcome: 'incomplete', codes: [] });
  });

  it('refuses a seal with a time that RFC 3339 cannot write, and takes the last one that it can', async () => {
    const sealedAt = async (ms: number) => verdictOn(massif, file(`${ms}.sth`, await log.seal(3, ms)));
    expect(await sealedAt(LAST_TIME_MS + 1)).toEqual({ exitCode: 1, outcome: 'refused', codes: ['malformed'] });
    expect(await sealedAt(9e15)).toMatchObject({ outcome: 'refused' });
    expect(await sealedAt(LAST_TIME_MS)).toMatchObject({ outcome: 'verified' });
  });

  it('refuses an event with a lone surrogate beside the statement of another one', async () => {
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
    const { event, mmrReceipt } = await logged(sampleAssetEvent(sampleAttributes(SAMPLE_VCON)));
    const parts = { rfc9162Receipt: await statementLogReceipt(statement), mmrReceipt, event };
    const bundle = zipSync({
      'event.json': utf8(JSON.stringify({ ...event, asset_attributes: { name: '\ud800' } })),
      'transparent-statement.cose': assembleTransparentStatement(statement, parts),
    });
    expect(await verdictOn(file('surrogate.zip', bundle))).toEqual({
      exitCode: 1,
      outcome: 'refused',
      codes: ['bundle_mismatch'],
    });
  });

  it('says that it is too long of a list of events in one answer', async () => {
    const answer = JSON.stringify({ events: Array.from({ length: 200_000 }, () => 0), identity: 'assets/1' });
    const server = createServer((_, response) => response.end(answer));
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    const { err, exitCode } = await verify(`http://127.0.0.1:${port}/archivist/v2/publicassets/1`);
    server.close();
    expect([exitCode, err]).toEqual([2, expect.stringContaining('lists more than 100000 events')]);
  });
});
