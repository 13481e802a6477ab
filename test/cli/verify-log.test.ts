import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CborMap } from '../../src/core/cose/cbor.js';
import { Header } from '../../src/core/cose/labels.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { peaks as peakIndices } from '../../src/core/mmr/peaks.js';
import { encodeSignedState, readSeal } from '../../src/core/receipt/seal.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { flipBit } from '../core/massif/sample-log.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  logged,
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleStatement,
  statementLogReceipt,
  statementLogReceipts,
} from '../core/verify/sample-transparent-statement.js';
import { verifyRig } from './verify-rig.js';

const { folder, file, verify, remove } = verifyRig('verify-log');
const log = sampleSealedLog({ leaves: 11 });
const name = (number: number) => String(number).padStart(16, '0');

async function replica(place: string, change: (number: number, massif: Uint8Array) => Uint8Array = (_, m) => m) {
  for (const [number, leaves] of [4, 8, 11].entries()) {
    const base = `${place}/tenant/${SAMPLE_TENANCY}/0`;
    file(`${base}/massifs/${name(number)}.log`, change(number, log.massif(number, leaves)));
    file(`${base}/massifseals/${name(number)}.sth`, await log.seal(leaves));
  }
  return join(folder, place);
}

afterAll(remove);

describe('vcon-archivist verify of a log', () => {
  const event = file('event.json', JSON.stringify(log.events[5]));
  const list = file('events.json', JSON.stringify({ events: log.events, next_page_token: '' }));

  it('checks a whole replica folder', async () => {
    const { out, exitCode } = await verify(await replica('replica'));
    expect(exitCode).toBe(0);
    expect(out).toMatch(/first massif +0\n +last massif +2\n +nodes +19\n +proven by +seal over 19 nodes/);
  });

  it('checks a zip of a replica folder as the folder, and refuses one with a changed log file', async () => {
    const zipped = async (change?: Parameters<typeof replica>[1]) => {
      const place = await replica(change ? 'changed' : 'zipped', change);
      const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const paths = files.map((entry) => join(entry.parentPath, entry.name));
      const content = paths.map((path) => [relative(folder, path), new Uint8Array(readFileSync(path))]);
      return file(`${place}.zip`.slice(folder.length + 1), zipSync(Object.fromEntries(content)));
    };
    const { out, exitCode } = await verify('--json', await zipped());
    expect([exitCode, JSON.parse(out)]).toMatchObject([
      0,
      { files: [{ kind: 'replica' }], claims: [{ kind: 'log', facts: { last_massif: '2', size: '19' } }] },
    ]);
    const changed = await verify(
      '--json',
      await zipped((number, massif) => (number === 1 ? flipBit(massif, 700) : massif)),
    );
    expect(changed.exitCode).toBe(1);
  });

  it('checks a replica whose seals carry the peaks, as the veracity tool writes it, against the computed ones', async () => {
    const carrying = async (place: string, peaksOf: number) => {
      const seal = await log.seal(11);
      const { state } = readSeal(seal);
      const peaks = peakIndices(state.size).map((index) => log.nodes[Number(index) - peaksOf]!);
      const base = `${place}/tenant/${SAMPLE_TENANCY}/0`;
      await replica(place);
      const payload = encodeSignedState(state, peaks);
      file(`${base}/massifseals/${name(2)}.sth`, encodeSign1({ ...decodeSign1(seal), payload }));
      return join(folder, place);
    };
    expect((await verify(await carrying('veracity', 0))).exitCode).toBe(0);
    const { out, exitCode } = await verify(await carrying('veracity-other', 1));
    expect([exitCode, out.includes('[seal_signature_invalid]')]).toEqual([1, true]);
  });

  it('checks events against it, one or a list', async () => {
    const place = await replica('replica');
    for (const [path, count] of [
      [event, 1],
      [list, 11],
    ] as const) {
      const { out, exitCode } = await verify(path, place);
      expect(exitCode).toBe(0);
      expect(out.match(/an event that a log holds/g)).toHaveLength(count);
    }
  });

  it('checks an event against one massif and its seal', async () => {
    const massif = file('one.log', log.massif(1, 8));
    const seal = file('one.sth', await log.seal(8));
    expect((await verify(event, massif, seal)).exitCode).toBe(0);
    const changed = file('changed.json', JSON.stringify({ ...log.events[5], operation: 'Forged' }));
    const { out, exitCode } = await verify(changed, massif, seal);
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^REFUSED\.[\s\S]*the event was changed or swapped/);
    expect(out).toContain('[leaf_mismatch]');
  });

  it('refuses an event that is damaged', async () => {
    const damaged = file('damaged.json', JSON.stringify({ ...log.events[5], merklelog_entry: {} }));
    const { out, exitCode } = await verify(damaged, await replica('replica'));
    expect([exitCode, out.includes('[malformed]')]).toEqual([1, true]);
  });

  it('refuses a replica with one bit turned, and an event that it does not reach', async () => {
    const turned = await replica('turned', (number, massif) =>
      number === 1 ? flipBit(massif, massif.length - 1) : massif,
    );
    expect((await verify(turned)).out).toContain('[massif_corrupt]');
    const early = file('early/massifs/0000000000000000.log', log.massif(0, 4));
    file('early/massifseals/0000000000000000.sth', await log.seal(4));
    const { out, exitCode } = await verify(event, dirname(dirname(early)));
    expect([exitCode, out.includes('NOT PROVEN: no given file proves that a log holds it')]).toEqual([3, true]);
  });

  it('compares two seals over the massifs between them', async () => {
    const [older, newer] = [file('older.sth', await log.seal(6)), file('newer.sth', await log.seal(11))];
    const massifs = [file('m1.log', log.massif(1, 8)), file('m2.log', log.massif(2, 11))];
    expect((await verify(older, newer, ...massifs)).exitCode).toBe(0);
    expect((await verify(older, newer, file('m0.log', log.massif(0)), ...massifs)).exitCode).toBe(0);
    const { out, exitCode } = await verify(...massifs.toReversed(), newer, older);
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/nodes before +10\n +nodes +19/)]);
  });

  it('refuses a seal that is over an older state than one before it', async () => {
    const [early, late] = [file('early.sth', await log.seal(6, 2_000)), file('late.sth', await log.seal(11, 1_000))];
    const massifs = [file('m1.log', log.massif(1, 8)), file('m2.log', log.massif(2, 11))];
    const { out, exitCode } = await verify(late, early, ...massifs);
    expect([exitCode, out.includes('[consistency_invalid]')]).toEqual([1, true]);
  });

  it('takes a seal for a seal by its signed state, whatever is or is not in its unprotected header', async () => {
    const bare = async (leaves: number, unprotectedHeader: CborMap = new Map()) =>
      encodeSign1({ ...decodeSign1(await log.seal(leaves)), unprotectedHeader });
    const place = await replica('bare');
    file(`bare/tenant/${SAMPLE_TENANCY}/0/massifseals/${name(2)}.sth`, await bare(11));
    expect((await verify(place)).exitCode).toBe(0);
    const [massif, seal] = [file('bare.log', log.massif(1, 8)), file('bare.sth', await bare(8))];
    const { out, exitCode } = await verify('--json', event, massif, seal);
    expect([exitCode, JSON.parse(out).files[2]]).toEqual([0, { file: seal, kind: 'seal' }]);
    const other = file('other.sth', await bare(8, new Map([[Header.receipts, []]])));
    expect(JSON.parse((await verify('--json', event, massif, other)).out)).toMatchObject({
      outcome: 'verified',
      files: [{}, {}, { kind: 'seal' }],
      not_covered: expect.arrayContaining([expect.objectContaining({ members: ['header 394'] })]),
    });
  });

  it('calls nothing proven that no seal reaches: a massif without its seal, a seal without its massif, an event alone', async () => {
    for (const given of [
      file('alone.log', log.massif(0, 4)),
      file('alone.sth', await log.seal(4)),
      file('receipt-alone.cose', await log.receipt(5)),
      event,
    ]) {
      const { out, exitCode } = await verify(given);
      expect([exitCode, out.includes('NOT PROVEN'), out.includes('Proven:')]).toEqual([3, true, false]);
    }
    const beyond = await verify(
      file('m0.log', log.massif(0)),
      file('m1.log', log.massif(1)),
      file('0.sth', await log.seal(4)),
    );
    expect([beyond.exitCode, beyond.out.includes('no seal reaches the last massif')]).toEqual([3, true]);
  });

  it.each<[string, () => Promise<string[]>]>([
    ['a folder without massifs', async () => [dirname(file('empty/none.txt', ''))]],
    [
      'a replica that lacks a massif',
      async () => {
        await replica('gap');
        rmSync(join(folder, `gap/tenant/${SAMPLE_TENANCY}/0/massifs/${name(1)}.log`));
        return [join(folder, 'gap')];
      },
    ],
  ])('exits 2 on %s', async (_, args) => {
    const { err, exitCode } = await verify(...(await args()));
    expect(exitCode).toBe(2);
    expect(err).not.toBe('');
  });
});

describe('vcon-archivist verify of a receipt', () => {
  it('takes it with the event or the statement that it is for, and refuses it with any other', async () => {
    const receipt = file('event-receipt.cose', await log.receipt(5));
    const event = file('event.json', JSON.stringify(log.events[5]));
    const other = file('other.json', JSON.stringify(log.events[6]));
    expect((await verify(receipt, event)).exitCode).toBe(0);
    expect((await verify(other, receipt)).exitCode).toBe(1);
    const bytes = await sampleStatement(sampleAttributes(SAMPLE_VCON));
    const statement = file('statement.cose', bytes);
    const inLog = file('receipt.cose', await statementLogReceipt(bytes));
    expect((await verify(statement, inLog)).exitCode).toBe(0);
    expect(await verify(statement, receipt)).toMatchObject({ exitCode: 3, out: expect.stringContaining('NOT PROVEN') });
    const foreign = file('foreign.cose', await sampleStatement(sampleAttributes(new Uint8Array(3))));
    expect((await verify(foreign, inLog)).out).toContain('[receipt_signature_invalid]');
  });

  it('takes a signed statement alone, and says that nothing shows its registration', async () => {
    const statement = file('alone.cose', await sampleStatement(sampleAttributes(SAMPLE_VCON)));
    const { out, exitCode } = await verify(statement);
    expect([exitCode, out]).toEqual([3, expect.stringContaining('nothing shows that the statement was registered')]);
    expect(out).toMatch(/operation +vcon_created/);
  });

  it('finds what belongs together among many files: receipts, statements, events and their document', async () => {
    const [one, other] = await Promise.all([
      sampleStatement(sampleAttributes(SAMPLE_VCON)),
      sampleStatement(sampleAttributes(new Uint8Array(3))),
    ]);
    const [ofOne, ofOther] = (await statementLogReceipts([one, other])) as [Uint8Array, Uint8Array];
    const files = [
      file('2.json', JSON.stringify(log.events[2])),
      file('r-other.cose', ofOther),
      file('r5.cose', await log.receipt(5)),
      file('call.json', SAMPLE_VCON),
      file('one.cose', one),
      file('r2.cose', await log.receipt(2)),
      file('other.cose', other),
      file('5.json', JSON.stringify(log.events[5])),
      file('r-one.cose', ofOne),
    ];
    for (const given of [files, files.toReversed()]) {
      const { out, exitCode } = await verify(...given);
      expect([exitCode, out.match(/a statement, signed by its issuer/g)?.length]).toEqual([0, 2]);
      expect(out.match(/an event that a log holds/g)).toHaveLength(2);
    }
    const { exitCode } = await verify(...files, file('r-strange.cose', await log.receipt(7)));
    expect(exitCode).toBe(1);
  });

  it('compares an event in a file with the one that a statement carries', async () => {
    const attributes = sampleAttributes(SAMPLE_VCON);
    const bytes = await sampleStatement(attributes);
    const proof = await logged(sampleAssetEvent(attributes));
    const rfc9162Receipt = await statementLogReceipt(bytes);
    const statement = file('transparent.cose', assembleTransparentStatement(bytes, { rfc9162Receipt, ...proof }));
    const served = { ...proof.event, confirmation_status: 'CONFIRMED', asset_identity: 'assets/x' };
    const good = await verify(statement, file('served.json', JSON.stringify(served)));
    expect([good.exitCode, good.out]).toEqual([
      0,
      expect.stringMatching(/served\.json\/event: confirmation_status, asset_identity \(covered by no log/),
    ]);
    for (const change of [{ operation: 'Forged' }, { timestamp_accepted: '2019-01-01T00:00:00Z' }]) {
      const forged = file('forged.json', JSON.stringify({ ...served, ...change }));
      const { out, exitCode } = await verify(forged, statement);
      expect([exitCode, out.includes('[event_mismatch]')]).toEqual([1, true]);
      expect(out).not.toMatch(/Forged|2019-01/);
    }
  });
});

describe('vcon-archivist verify of an evidence bundle', () => {
  it('needs one statement about the vCon, and every statement to hold', async () => {
    const vcon = file('call.vcon.json', SAMPLE_VCON);
    const contents = [new Uint8Array(1), SAMPLE_VCON];
    const statements = await Promise.all(contents.map((content) => sampleStatement(sampleAttributes(content))));
    const receipts = await statementLogReceipts(statements);
    const [earlier, about] = statements.map((statement, at) =>
      assembleTransparentStatement(statement, { rfc9162Receipt: receipts[at]! }),
    ) as [Uint8Array, Uint8Array];
    const bundle = (files: Record<string, Uint8Array>) => file('evidence.zip', zipSync(files));
    const good = { '1/transparent-statement.cose': earlier, '2/transparent-statement.cose': about };
    expect((await verify(vcon, bundle(good))).exitCode, 'without an index').toBe(3);
    const unrelated = await verify(vcon, bundle({ '1/transparent-statement.cose': earlier }));
    expect(unrelated.out).toContain('[payload_hash_mismatch]');
    const broken = await verify(vcon, bundle({ ...good, '3/transparent-statement.cose': flipBit(earlier, 80) }));
    expect(broken.exitCode).toBe(1);
    expect((await verify(vcon, bundle({ 'README.txt': new Uint8Array() }))).exitCode).toBe(2);
    expect((await verify(file('cut.zip', zipSync(good).slice(0, 60)))).exitCode).toBe(2);
    const zeros = new Uint8Array(15 * 1024 * 1024);
    const bomb = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}/transparent-statement.cose`, zeros]));
    const refused = await verify(file('bomb.zip', zipSync(bomb)));
    expect([refused.exitCode, refused.err.includes('too large')]).toEqual([2, true]);
  });
});

describe('vcon-archivist verify of a public asset', () => {
  const ASSET = 'publicassets/0192e8f5-1111-7000-8000-000000000001';
  const made = sampleSealedLog({
    leaves: 3,
    tenancy: '6ea5cd00-0000-4000-8000-000000000000',
    event: (leaf) => ({
      tenant_identity: `tenant/${SAMPLE_TENANCY}`,
      identity: `${ASSET}/events/0192e8f5-2222-7000-8000-00000000000${leaf}`,
      operation: leaf === 0 ? 'NewAsset' : 'Record',
      timestamp_accepted: `2025-01-16T16:12:3${leaf}Z`,
      asset_attributes: { step: String(leaf) },
    }),
  });
  let server: Server;
  let url: string;
  let attributes: unknown = { step: '2' };
  let identity: unknown = ASSET;
  let newest: object = made.events[2]!;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const path = request.url!.replace(/^\/archivist\/v2\//, '');
      const receipt = /-00000000000(\d)\/receipt$/.exec(path);
      if (receipt) response.end(await made.receipt(Number(receipt[1])));
      else if (path.includes('/events?page_token=more'))
        response.end(JSON.stringify({ events: made.events.slice(0, 1), next_page_token: '' }));
      else if (path.endsWith('/events'))
        response.end(JSON.stringify({ events: [newest, made.events[1]], next_page_token: 'more' }));
      else if (path === ASSET) response.end(JSON.stringify({ identity, attributes }));
      else response.writeHead(404).end('{}');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/archivist/v2/${ASSET}`;
  });
  afterAll(() => new Promise((closed) => server.close(closed)));

  it('reads all of its events with their receipts, and checks them', async () => {
    const { out, exitCode } = await verify(url);
    expect(out).toMatch(/events +3\n +attributes +\{"step":"2"\}/);
    expect(exitCode).toBe(0);
  });

  it('is incomplete, and refuses nothing, while no log holds its newest event yet', async () => {
    newest = { ...newest, merklelog_entry: { commit: null, confirm: null, unequivocal: null } };
    const { out, exitCode } = await verify(url);
    newest = made.events[2]!;
    expect([exitCode, out]).toEqual([3, expect.stringContaining('no log holds the event yet: fetch it again')]);
  });

  it('refuses attributes that its events did not make', async () => {
    attributes = { step: 'forged' };
    const { out, exitCode } = await verify(url);
    attributes = { step: '2' };
    expect([exitCode, out.includes('[event_mismatch]')]).toEqual([1, true]);
  });

  it.each<[string, unknown]>([
    ['has another identity', ASSET.replace(/1$/, '2')],
    ['has an identity that has no text', { toString: 1, valueOf: 1 }],
  ])('refuses an answer that %s', async (_, other) => {
    identity = other;
    const { out, exitCode } = await verify(url);
    identity = ASSET;
    expect(exitCode).toBe(1);
    expect(out).toContain('[event_mismatch]');
    expect(out).toContain(`the service answered with the asset ${JSON.stringify(other)}`);
  });

  it('refuses an asset whose attributes are no object', async () => {
    attributes = ['2'];
    const { out, exitCode } = await verify(url);
    attributes = { step: '2' };
    expect([exitCode, out.includes('the asset has no attributes')]).toEqual([1, true]);
  });

  it('exits 2 when there is none, or the address is another’s', async () => {
    expect((await verify(`${url}0`)).exitCode).toBe(2);
    const pinned = await verify('--issuer', 'did:web:archive.example', url);
    expect([pinned.exitCode, pinned.err]).toEqual([2, expect.stringContaining('--issuer and --witness need files')]);
    expect((await verify(url.replace('publicassets', 'assets'))).exitCode).toBe(2);
  });
});
