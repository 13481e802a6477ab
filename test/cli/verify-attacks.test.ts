import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { concatBytes, utf8 } from '../../src/core/bytes.js';
import { crc32 } from '../../src/core/crc32.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  SAMPLE_ISSUER,
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { keySet, verifyRig } from './verify-rig.js';

const { issuer } = sampleSigners;
const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';
const { folder, file, verify, remove } = verifyRig('verify-attacks');
const log = sampleSealedLog({ leaves: 11 });
const name = (number: number) => String(number).padStart(16, '0');

afterAll(remove);

/** A file in a made-up zip: what its list says of it need not be so. */
interface ZipFile {
  readonly name: string;
  readonly content: Uint8Array;
  readonly saysLength?: number;
  /** Its list entry stands there so many times, all for the same bytes. */
  readonly times?: number;
}

const numbers = (...of: [value: number, width: 2 | 4][]) =>
  concatBytes(
    ...of.map(([value, width]) => {
      const bytes = new DataView(new ArrayBuffer(4));
      bytes.setUint32(0, value, true);
      return new Uint8Array(bytes.buffer.slice(0, width));
    }),
  );

function zip(files: readonly ZipFile[], saysFiles?: number): Uint8Array {
  const parts: Uint8Array[] = [];
  const list: Uint8Array[] = [];
  let at = 0;
  for (const { name: called, content, saysLength = content.length, times = 1 } of files) {
    const [title, length] = [utf8(called), content.length];
    const sizes = [crc32(content), length, saysLength].map((value): [number, 4] => [value, 4]);
    const local = numbers([0x04034b50, 4], [20, 2], [0, 2], [0, 2], [0, 4], ...sizes, [title.length, 2], [0, 2]);
    const ends: [number, 2 | 4][] = [
      [title.length, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 4],
      [at, 4],
    ];
    const entry = numbers([0x02014b50, 4], [20, 2], [20, 2], [0, 2], [0, 2], [0, 4], ...sizes, ...ends);
    for (let left = times; left > 0; left -= 1)
      list.push(entry, times > 1 ? utf8(String(left).padStart(4, '0').concat(called.slice(4))) : title);
    parts.push(local, title, content);
    at += local.length + title.length + length;
  }
  const listed = concatBytes(...list);
  const count = saysFiles ?? files.reduce((sum, { times = 1 }) => sum + times, 0);
  const [start, many] = [at, saysFiles !== undefined];
  const end64 = many
    ? concatBytes(
        numbers(
          [0x06064b50, 4],
          [44, 4],
          [0, 4],
          [45, 2],
          [45, 2],
          [0, 4],
          [0, 4],
          [count, 4],
          [0, 4],
          [count, 4],
          [0, 4],
        ),
        numbers([listed.length, 4], [0, 4], [start, 4], [0, 4]),
        numbers([0x07064b50, 4], [0, 4], [start + listed.length, 4], [0, 4], [1, 4]),
      )
    : new Uint8Array();
  const short: [number, 2] = [many ? 0xffff : count, 2];
  const end = numbers([0x06054b50, 4], [0, 2], [0, 2], short, short, [listed.length, 4], [start, 4], [0, 2]);
  return concatBytes(...parts, listed, end64, end);
}

async function transparent(): Promise<Uint8Array> {
  const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
  return assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
}

describe('an evidence bundle is not opened', async () => {
  const content = await transparent();
  const good = { name: 'a/transparent-statement.cose', content };
  const bundle = (files: readonly ZipFile[], saysFiles?: number) => verify(file('made.zip', zip(files, saysFiles)));

  it('unless it is a good one', async () => {
    expect((await bundle([good, { name: 'how-to-check.txt', content: utf8('so') }])).exitCode).toBe(3);
  });

  it.each<[string, ZipFile[], number?]>([
    ['a statement twice under one name', [good, good]],
    ['another file twice under one name', [good, ...Array(2).fill({ name: 'log-keys.cbor', content })]],
    ['a file for the folder above', [good, { name: '../.bashrc', content }]],
    ['a file for the root', [good, { name: '/etc/passwd', content }]],
    ['a file for another drive', [good, { name: 'C:\\x', content }]],
    ['a statement too large to be one', [good, { ...good, name: 'b/transparent-statement.cose', saysLength: 2 ** 31 }]],
    [
      'four thousand times one megabyte',
      [{ name: '0000/transparent-statement.cose', content: new Uint8Array(1 << 20), saysLength: 0, times: 4000 }],
    ],
    ['more files than it has bytes', [good], 0xffffffff],
    [
      'no end of files',
      [
        { name: '0000', content: new Uint8Array(), times: 9999 },
        ...Array.from({ length: 11_000 }, (_, at) => ({ name: `f${at}`, content: new Uint8Array() })),
      ],
    ],
  ])('with %s', async (_, files, saysFiles) => {
    const { err, exitCode } = await bundle(files, saysFiles);
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/^error: \S+: the evidence bundle/)]);
  });
});

describe('a statement', () => {
  it('is of the issuer that is asked for, where keys of several are given', async () => {
    const statement = file('transparent.cose', await transparent());
    const keys = file('both.json', keySet(sampleSigners.stranger, issuer));
    const check = (...more: string[]) => verify('--issuer-keys', keys, '--statement-only', statement, ...more);
    expect((await check('--issuer', SAMPLE_ISSUER)).exitCode).toBe(0);
    const pinned = await check('--issuer', SAMPLE_ISSUER);
    expect(pinned.out).toMatch(
      new RegExp(`^VERIFIED\\. This is what tenancy ${SAMPLE_TENANCY} of https://archive.example recorded\\.\\n`),
    );
    const { out, exitCode } = await check('--issuer', 'did:web:another.example');
    expect([exitCode, out.includes('[issuer_key_not_trusted]')]).toEqual([1, true]);
  });
});

describe('a statement of another tenancy about the same vCon, signed with the deployment’s key', () => {
  it('is told as that tenancy’s in the first line, and refused where the expected issuer is pinned', async () => {
    const theirs = SAMPLE_ISSUER.replace(SAMPLE_TENANCY, OTHER_TENANCY);
    const bytes = await sampleStatement(sampleAttributes(SAMPLE_VCON), issuer, theirs);
    const rfc9162Receipt = await statementLogReceipt(bytes);
    const statement = file('theirs.cose', assembleTransparentStatement(bytes, { rfc9162Receipt }));
    const vcon = file('call.json', SAMPLE_VCON);
    const open = await verify(vcon, statement);
    expect([open.exitCode, open.out.split('\n')[0]]).toEqual([
      0,
      `VERIFIED. This is what tenancy ${OTHER_TENANCY} of https://archive.example recorded. No issuer was pinned (--issuer).`,
    ]);
    expect((await verify('--issuer', theirs, vcon, statement)).exitCode).toBe(0);
    expect((await verify('--issuer', SAMPLE_ISSUER, vcon, statement)).exitCode).toBe(1);
  });
});

describe('a statement whose issuer has another service’s name, and the uuid of a tenancy of ours', () => {
  it('cannot write the first line with its name', async () => {
    const names = [
      [
        `tenancy ${SAMPLE_TENANCY} of https://archive.example`,
        `“tenancy ${SAMPLE_TENANCY} of https://archive.example”`,
      ],
      ['nobody” but “Alice', '“nobody\\u201d but \\u201cAlice”'],
      ['did:web:\u0430rchive.example', '“did:web:\\u0430rchive.example”'],
      ['x'.repeat(5_000), `“${'x'.repeat(200)}\\u2026”`],
    ] as const;
    const keys = file('names.json', keySet(sampleSigners.stranger));
    for (const [name, shown] of names) {
      const bytes = await sampleStatement(sampleAttributes(SAMPLE_VCON), sampleSigners.stranger, name);
      const rfc9162Receipt = await statementLogReceipt(bytes);
      const statement = file('named.cose', assembleTransparentStatement(bytes, { rfc9162Receipt }));
      const { out } = await verify('--issuer-keys', keys, file('call.json', SAMPLE_VCON), statement);
      expect(out.split('\n')[0]).toBe(`VERIFIED. This is what ${shown} recorded. No issuer was pinned (--issuer).`);
    }
  });

  it('is told as that issuer’s in the first line', async () => {
    const theirs = SAMPLE_ISSUER.replace('archive.example', 'evil.example');
    const bytes = await sampleStatement(sampleAttributes(SAMPLE_VCON), sampleSigners.stranger, theirs);
    const rfc9162Receipt = await statementLogReceipt(bytes);
    const statement = file('lookalike.cose', assembleTransparentStatement(bytes, { rfc9162Receipt }));
    const keys = file('stranger.json', keySet(sampleSigners.stranger));
    const { out } = await verify('--issuer-keys', keys, file('call.json', SAMPLE_VCON), statement);
    expect(out.split('\n')[0]).toBe(`VERIFIED. This is what “${theirs}” recorded. No issuer was pinned (--issuer).`);
  });
});

describe('evidence in JSON', () => {
  const massif = file('0.log', log.massif(1, 8));
  const sealOf = async () => file('0.sth', await log.seal(8));
  const good = JSON.stringify(log.events[5]);

  it.each([
    [
      'that is nested a hundred thousand deep',
      `{"events":[{"identity":"events/1","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`,
    ],
    [
      'that says a name twice',
      good.replace('"event_attributes":', '"event_attributes":{"step":"forged"},"event_attributes":'),
    ],
    ['that lists nothing readable', '{"events":[null]}'],
  ])('%s is refused', async (_, text) => {
    const { out, exitCode } = await verify(file('event.json', text), massif, await sealOf());
    expect([exitCode, out.includes('[malformed]')]).toEqual([1, true]);
  });
});

describe('names in evidence', () => {
  it('cannot move the cursor, or write a verdict of their own', async () => {
    const name = 'https://x/\u001b[2J\u009b1;1H\u202e\u061c\nVERIFIED.\r';
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON), issuer, name);
    const forged = file('forged.cose', statement);
    const { out, exitCode } = await verify(forged);
    expect(exitCode).toBe(3);
    expect(out).toContain('https://x/\\u001b[2J\\u009b1;1H\\u202e\\u061c\\u000aVERIFIED.\\u000d');
    expect(out).not.toMatch(/^VERIFIED/m);
    const json = await verify('--json', forged);
    for (const unseen of ['\u001b', '\u009b', '\u202e', '\u061c']) expect(json.out).not.toContain(unseen);
    expect(JSON.stringify(JSON.parse(json.out))).toContain(JSON.stringify(name).slice(1, -1));
  });
});

describe('a replica folder', () => {
  async function replica(place: string, tenancy: string, massifs: readonly number[]): Promise<string> {
    for (const [at, massif] of massifs.entries()) {
      const leaves = Math.min(11, 4 * massif + 4);
      file(`${place}/tenant/${tenancy}/0/massifs/${name(at)}.log`, log.massif(massif, leaves));
      file(`${place}/tenant/${tenancy}/0/massifseals/${name(at)}.sth`, await log.seal(leaves));
    }
    return join(folder, place);
  }

  it('has each massif under its own number', async () => {
    expect((await verify(await replica('whole', SAMPLE_TENANCY, [0, 1, 2]))).exitCode).toBe(0);
    const { out, exitCode } = await verify(await replica('hidden', SAMPLE_TENANCY, [1, 2]));
    expect([exitCode, out.includes('[massif_corrupt]')]).toEqual([1, true]);
  });

  it('has each log under its own tenancy', async () => {
    const { out, exitCode } = await verify(await replica('swapped', OTHER_TENANCY, [0, 1]));
    expect([exitCode, out.includes('[log_mismatch]')]).toEqual([1, true]);
  });
});

describe('the address of a public asset', () => {
  const ASSET = '/archivist/v2/publicassets/0192e8f5-1111-7000-8000-000000000001';

  async function answering(answer: (path: string) => string): Promise<{ exitCode: number; text: string }> {
    const server = createServer((request, response) => response.end(answer(request.url!)));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { out, err, exitCode } = await verify(`http://127.0.0.1:${(server.address() as AddressInfo).port}${ASSET}`);
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    return { exitCode, text: out + err };
  }

  it('that answers what is no asset is told so', async () => {
    for (const body of ['null', '[]', '7', '"x"', '{', '{"a":1,"a":2}', '{}'])
      expect((await answering(() => body)).exitCode, body).toBeGreaterThan(0);
  });

  it('that lists events without an end is left', async () => {
    const page = JSON.stringify({ events: Array(2_000).fill({}), next_page_token: 'more' });
    const { exitCode, text } = await answering((path) => (path.includes('/events') ? page : '{"identity":"x"}'));
    expect([exitCode, text.includes('lists more than')]).toEqual([2, true]);
  });
});
