import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleIndex, encodeBundleIndex, INDEX_PATH, readBundleIndex } from '../../src/core/bundle/bundle-index.js';
import { isExplanation, PAGE_PATH, placeOf } from '../../src/core/bundle/bundle-layout.js';
import { toHex, utf8 } from '../../src/core/bytes.js';
import { sha256 } from '../../src/core/sha256.js';
import type { Claim } from '../../src/core/verify/claim.js';
import type { Contradiction, NotCovered, Outcome } from '../../src/core/verify/verdict.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';

const UUID = '0192e8f5-0000-7000-8000-0000000000b1';
const VCON = `{"vcon": "0.3.0", "uuid": "${UUID}", "parties": [], "dialog": []}`;
const PATIENCE = { timeout: 40_000, interval: 200 };
const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
let running: TestService;
let keys: string[];
let vcon: string;
/** The service's bundle of each event, by a name. */
const bundles = new Map<string, Uint8Array>();
/** What `export` wrote about the vCon: six operations, of every kind. */
let whole: Uint8Array;
let genuine: VerdictDocument;

type Files = Record<string, Uint8Array>;

interface VerdictDocument {
  readonly outcome: Outcome;
  readonly claims: readonly Claim[];
  readonly contradictions: readonly Contradiction[];
  readonly not_covered: readonly NotCovered[];
  readonly missing: readonly { readonly what: string }[];
  readonly exitCode: number;
}

function file(path: string, content: string | Uint8Array): string {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, content);
  return place;
}

const cli = (...args: string[]) => commandLine(args);

/** The verdict on a bundle, with the names that its pieces have inside of it. */
async function verify(bundle: string, ...more: string[]): Promise<VerdictDocument> {
  const { out, exitCode } = await cli('verify', '--json', ...keys, bundle, ...more);
  const { files: _, ...verdict } = JSON.parse(out.replaceAll(`${bundle}/`, '')) as VerdictDocument & { files: unknown };
  return { ...verdict, exitCode };
}

let made = 0;
/** The verdict on these files as a zip; `unpacked` as a folder. */
async function verdictOn(files: Files, { unpacked = false } = {}): Promise<VerdictDocument> {
  made += 1;
  if (!unpacked) return verify(file(`made-${made}.zip`, zipSync(files, { level: 0 })));
  for (const [path, bytes] of Object.entries(files)) file(`made-${made}/${path}`, bytes);
  return verify(join(folder, `made-${made}`));
}

/** The same files without the page, under an index that lists them: it is not signed, and anybody can write it. */
function indexedAgain({ [INDEX_PATH]: index, [PAGE_PATH]: _, ...files }: Files, gone?: number): Files {
  const operations = readBundleIndex(index!).operations.filter(({ number }) => number !== gone);
  const renumbered = operations.map((operation, place) => ({ ...operation, number: place + 1 }));
  return { ...files, [INDEX_PATH]: encodeBundleIndex(bundleIndex(files, renumbered)) };
}

beforeAll(async () => {
  // Massifs of four leaves: a vCon's events lie in several.
  running = await startTestService({ MASSIF_HEIGHT: '3' });
  const post = async (path: string, body: object) => String((await running.owner.post(path, body)).json['identity']);
  const asset = await post('/archivist/v2/assets', { public: true, attributes: { arc_display_type: 'vcon' } });
  const about = (name: string, content: string) => ({
    arc_display_type: name,
    vcon_operation: name,
    payload: toHex(sha256(utf8(content))),
    payload_hash_alg: 'SHA-256',
    subject: `vcon://${UUID}`,
  });
  const event = (attributes: object) =>
    post(`/archivist/v2/${asset}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: attributes,
    });
  const free = (attributes: object, trails = [`vcon://${UUID}`]) =>
    post('/archivist/v1/events', { attributes, trails, event_type: 'note' });
  const created = await event(about('vcon_created', '{}'));
  const paths = {
    created: `v2/${created}`,
    transcribed: `v2/${await event(about('vcon_transcribed', VCON))}`,
    note: `v2/${await event({ arc_display_type: 'note', subject: `vcon://${UUID}` })}`,
    public: `v2/public${created}`,
    free: `v1/${await free({ note: 'kept' })}`,
    freeTemplate: `v1/${await free(about('vcon_stored', VCON))}`,
    // Found by its subject: it has no trail.
    freeSubject: `v1/${await free(about('vcon_sent', VCON), [])}`,
  };
  const [logKeys, issuerKeys] = [
    file('log-keys.cbor', (await running.anonymous.get('/.well-known/scitt-keys')).bytes),
    file('did.json', (await running.anonymous.get('/archivist/v1/didweb/did.json')).bytes),
  ];
  keys = ['--log-keys', logKeys, '--issuer-keys', issuerKeys];
  vcon = file('call.vcon.json', VCON);
  for (const [name, path] of Object.entries(paths))
    await vi.waitFor(async () => {
      const answer = await running.owner.get(`/archivist/${path}/evidence`);
      expect(answer.status).toBe(200);
      bundles.set(name, answer.bytes);
    }, PATIENCE);
  vi.stubEnv('ARCHIVIST_URL', running.url);
  vi.stubEnv('ARCHIVIST_CLIENT_ID', running.owner.clientId);
  vi.stubEnv('ARCHIVIST_CLIENT_SECRET', running.ownerSecret);
  const out = join(folder, 'whole.zip');
  expect((await cli('export', UUID, '--out', out)).err).toBe('');
  vi.unstubAllEnvs();
  whole = readFileSync(out);
  genuine = await verdictOn(unzipSync(whole));
}, 120_000);
afterAll(async () => {
  await running?.close();
  rmSync(folder, { recursive: true });
});

/** Files with their names in a folder. */
const within = (outer: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`${outer}/${name}`, bytes]));

/** The claims on operations of which another verdict does not have every fact. */
function newClaims({ claims }: VerdictDocument, known: VerdictDocument): Claim[] {
  const entries = ({ facts }: Claim) => Object.entries(facts).map((fact) => JSON.stringify(fact));
  return claims.filter((claim) => {
    const same = known.claims.filter(({ kind }) => kind === claim.kind);
    return claim.kind !== 'log' && !same.some((other) => entries(claim).every((fact) => entries(other).includes(fact)));
  });
}

const refusals = ({ contradictions }: VerdictDocument) => contradictions.map(({ piece, code }) => `${piece} ${code}`);

describe('a genuine bundle', () => {
  it.each(['created', 'transcribed', 'note', 'public', 'free', 'freeTemplate'])(
    'of one event (%s) verifies, as the zip that it is and unpacked',
    async (name) => {
      const files = unzipSync(bundles.get(name)!);
      const verdict = await verdictOn(files);
      expect([verdict.outcome, verdict.exitCode, verdict.contradictions]).toEqual(['verified', 0, []]);
      // An asset-free event has two: its record, and its leaf (docs/formats/asset-free-record.md).
      const ofEvent = name.startsWith('free') ? ['event', 'event'] : ['event'];
      expect(verdict.claims.map(({ kind }) => kind).sort()).toEqual(
        'transparent-statement.cose' in files ? [...ofEvent, 'log', 'statement'] : [...ofEvent, 'log'],
      );
      expect(await verdictOn(files, { unpacked: true })).toEqual(verdict);
    },
  );

  it('verifies without keys of an issuer if nothing in it was signed by one', async () => {
    const { out, exitCode } = await cli(
      'verify',
      '--json',
      ...keys.slice(0, 2),
      file('note.zip', bundles.get('note')!),
    );
    expect([exitCode, JSON.parse(out)]).toEqual([0, expect.objectContaining({ outcome: 'verified' })]);
    const stated = await cli('verify', ...keys.slice(0, 2), file('created.zip', bundles.get('created')!));
    expect([stated.exitCode, stated.err]).toEqual([2, expect.stringContaining('--issuer-keys')]);
  });

  it('verifies alike if it was zipped with its folder, or if the parent folder is given', async () => {
    const wrapped = within('evidence', unzipSync(whole));
    expect(await verdictOn(wrapped)).toEqual(genuine);
    expect(await verdictOn(wrapped, { unpacked: true })).toEqual(genuine);
  });

  it('verifies if macOS zipped it with its folder, or put its own files into the parent folder, and names those', async () => {
    const own = { '.DS_Store': utf8('Bud1'), '__MACOSX/evidence/._index.json': Uint8Array.of(0, 5, 22, 7) };
    const wrapped = within('evidence', { ...unzipSync(whole), '.DS_Store': utf8('Bud1') });
    for (const unpacked of [false, true]) {
      const { outcome, claims, not_covered } = await verdictOn({ ...own, ...wrapped }, { unpacked });
      expect([outcome, claims]).toEqual(['verified', genuine.claims]);
      const named = not_covered.map(({ piece }) => piece);
      for (const name of ['.DS_Store', '../.DS_Store', '../__MACOSX/evidence/._index.json'])
        expect(named).toContainEqual(expect.stringMatching(new RegExp(`(^|[^.]/)${name.replaceAll('.', '\\.')}$`)));
      const hidden = { ...wrapped, '__MACOSX/._a.cose': wrapped['evidence/0001-vcon_created/signed-statement.cose']! };
      expect((await verdictOn(hidden, { unpacked })).outcome).toBe('incomplete');
    }
  });

  it('does not verify with a file beside its folder, or in two folders', async () => {
    const wrapped = within('evidence', unzipSync(whole));
    for (const files of [{ ...wrapped, 'notes.txt': utf8('noted') }, within('outer', wrapped)])
      for (const unpacked of [false, true]) expect((await verdictOn(files, { unpacked })).outcome).not.toBe('verified');
  });

  it('of all operations on a vCon verifies with it, and says that completeness is not proven', async () => {
    const zip = file('all.zip', whole);
    const verdict = await verify(zip, vcon);
    expect([verdict.outcome, verdict.exitCode]).toEqual(['verified', 0]);
    // Six events, three of them asset-free with two claims each.
    expect(verdict.claims.filter(({ kind }) => kind === 'event')).toHaveLength(9);
    expect(verdict.claims.filter(({ kind }) => kind === 'document')).toHaveLength(1);
    expect(verdict.not_covered).toContainEqual(
      expect.objectContaining({
        piece: INDEX_PATH,
        why: 'by_design',
        detail: expect.stringMatching(/made with 6 operations.*not signed.*no other operation/),
      }),
    );
    const other = await verify(zip, file('other.json', '{"vcon":"x"}'));
    expect([other.exitCode, refusals(other)]).toEqual([
      1,
      [expect.stringContaining('other.json payload_hash_mismatch')],
    ]);
  });

  it('of an asset-free event proves the members of its record, and names only what no log covers', async () => {
    const { claims, not_covered } = await verdictOn(unzipSync(bundles.get('free')!));
    const event = claims.find(({ kind }) => kind === 'event');
    expect(event?.facts).toMatchObject({ event_type: 'note', identity: expect.stringMatching(/^events\//) });
    const open = not_covered.filter(({ piece }) => piece.endsWith('event.json')).flatMap(({ members }) => members);
    expect(open).toContain('confirmation_status');
    expect(open).not.toContain('identity');
  });

  it('proves an event by its receipts and by its log, in one claim', () => {
    const isRecord = (facts: object) => /^events\//.test(String((facts as { identity?: string }).identity));
    const ofLeaves = genuine.claims.filter(({ kind, facts }) => kind === 'event' && !isRecord(facts));
    for (const claim of ofLeaves)
      expect(claim.by.flatMap((proof) => ('signed' in proof ? [proof.signed] : []))).toEqual(
        expect.arrayContaining(['peak', 'seal']),
      );
  });
});

/** What somebody can do to one file. */
const EDITS: readonly (readonly [
  string,
  (bytes: Uint8Array, other: Uint8Array | undefined) => Uint8Array | undefined,
])[] = [
  ['overwritten with garbage', () => utf8('garbage, forty bytes of it, no evidence.')],
  ['emptied', () => new Uint8Array()],
  ['with its last bit turned', (bytes) => bytes.with(bytes.length - 2, bytes.at(-2)! ^ 1)],
  ['with a byte in the middle changed', (bytes) => bytes.with(bytes.length >> 1, bytes[bytes.length >> 1]! ^ 4)],
  ['exchanged for another operation’s', (_, other) => other],
];

function otherOperations(files: Files, path: string): Uint8Array | undefined {
  const name = path.replace(/^[^/]+\//, '');
  const [other] = Object.keys(files).filter(
    (each) => each !== path && /^\d{4}-/.test(each) && each.endsWith(`/${name}`),
  );
  return other === undefined ? undefined : files[other];
}

describe('a file of a bundle', () => {
  it.each(EDITS)(
    '%s refuses it, or is named where it is no evidence',
    async (_, edit) => {
      const files = unzipSync(whole);
      for (const path of Object.keys(files).filter((each) => each !== INDEX_PATH && each !== PAGE_PATH)) {
        const bytes = edit(files[path]!, otherOperations(files, path));
        if (!bytes) continue;
        const verdict = await verdictOn({ ...files, [path]: bytes });
        if (isExplanation(placeOf(path)!.kind)) {
          expect([path, verdict.outcome]).toEqual([path, 'verified']);
          const named = verdict.not_covered.find(({ piece, why }) => piece === path && why === 'explanation');
          expect([path, named?.detail]).toEqual([path, expect.stringContaining('not the file that index.json lists')]);
        } else expect([path, refusals(verdict)]).toEqual([path, expect.arrayContaining([`${path} bundle_mismatch`])]);
      }
    },
    120_000,
  );

  it.each(EDITS)(
    '%s is refused by the other evidence, where the index was written again',
    async (_, edit) => {
      const files = unzipSync(whole);
      for (const path of Object.keys(files).filter((each) => each !== INDEX_PATH && each !== PAGE_PATH)) {
        const bytes = edit(files[path]!, otherOperations(files, path));
        if (!bytes || isExplanation(placeOf(path)!.kind)) continue;
        // Not the members that no log covers: each of those has a case of its own.
        if (path.endsWith('event.json') && bytes.length === files[path]!.length) continue;
        const verdict = await verdictOn(indexedAgain({ ...files, [path]: bytes }));
        expect([path, verdict.exitCode]).toEqual([path, 1]);
      }
    },
    120_000,
  );

  it('removed refuses it; with the index written again too, nothing is claimed that was not', async () => {
    const files = unzipSync(whole);
    for (const path of Object.keys(files)) {
      const { [path]: _, ...rest } = files;
      const lost = await verdictOn(rest);
      if (path === INDEX_PATH) expect(lost.exitCode).toBe(3);
      else expect([path, lost.exitCode]).toEqual([path, isExplanation(placeOf(path)!.kind) ? 0 : 1]);
      if (path === INDEX_PATH) continue;
      const again = await verdictOn(indexedAgain(rest));
      expect([path, newClaims(again, genuine)]).toEqual([path, []]);
    }
  }, 120_000);
});

describe('an index that somebody wrote', () => {
  /** The bundle of one event, with one line of its index changed. */
  async function listed(path: string, change: object, more: Files = {}): Promise<VerdictDocument> {
    const { [PAGE_PATH]: _, ...files } = unzipSync(bundles.get('created')!);
    const index = JSON.parse(new TextDecoder().decode(files[INDEX_PATH]));
    const line = index.files.find((each: { path: string }) => each.path === path);
    Object.assign(line, change);
    return verdictOn({ ...files, ...more, [INDEX_PATH]: utf8(JSON.stringify(index)) });
  }

  it.each([
    [{ kind: 'explanation' }, 'says that it is explanation, of operation 1'],
    [
      { kind: 'transparent-statement', operation: undefined },
      'says that it is transparent-statement, of operation none',
    ],
  ])('cannot take a statement out of the check: %j', async (change, why) => {
    const { contradictions } = await listed('transparent-statement.cose', change);
    expect(contradictions).toEqual([
      expect.objectContaining({ code: 'bundle_mismatch', detail: expect.stringContaining(why) }),
    ]);
  });

  it('leaves unproven what it lists in a place that this program does not know', async () => {
    const { outcome, not_covered } = await listed('README.txt', { path: 'later/kind.cbor', kind: 'later-kind' });
    const named = not_covered.find(({ piece }) => piece === 'later/kind.cbor');
    expect([outcome, named?.detail]).toEqual(['incomplete', expect.stringContaining('files of the kind later-kind')]);
  });
});

describe('event.json with its index written again', () => {
  const edits: readonly (readonly [string, (value: unknown) => unknown])[] = [
    [
      'changed',
      (value) => (typeof value === 'string' ? `${value}0` : typeof value === 'number' ? value + 1 : { forged: 'yes' }),
    ],
    ['null', () => null],
    ['removed', () => undefined],
  ];

  it.each(['created', 'note', 'public', 'free', 'freeTemplate'])(
    'is refused or unproven, or names the member as not covered: %s',
    async (name) => {
      const files = unzipSync(bundles.get(name)!);
      const event = JSON.parse(new TextDecoder().decode(files['event.json'])) as Record<string, unknown>;
      for (const member of Object.keys(event))
        for (const [edit, made] of edits) {
          const changed = utf8(JSON.stringify({ ...event, [member]: made(event[member]) }));
          const verdict = await verdictOn(indexedAgain({ ...files, 'event.json': changed }));
          const open = verdict.not_covered
            .filter(({ piece }) => piece === 'event.json')
            .flatMap(({ members }) => members)
            .some((each) => each === member || each.startsWith(`${member}.`));
          expect([member, edit, verdict.outcome !== 'verified' || open || made(event[member]) === undefined]).toEqual([
            member,
            edit,
            true,
          ]);
          expect(JSON.stringify(verdict.claims)).not.toContain('"confirmation_status"');
        }
    },
    60_000,
  );

  it('with a member added or doubled is not verified, or names it', async () => {
    const files = unzipSync(bundles.get('created')!);
    const text = new TextDecoder().decode(files['event.json']);
    const added = text.replace(/^\{/, '{"forged": "yes",');
    const verdict = await verdictOn(indexedAgain({ ...files, 'event.json': utf8(added) }));
    const named = verdict.not_covered.filter(({ piece }) => piece === 'event.json').flatMap(({ members }) => members);
    expect(named).toContain('forged');
    const doubled = text.replace(/^\{/, '{"operation": "Forged",');
    expect((await verdictOn(indexedAgain({ ...files, 'event.json': utf8(doubled) }))).exitCode).toBe(1);
  });
});

describe('a bundle that lost a whole operation', () => {
  const without = (files: Files, from: string) =>
    Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith(from)));

  it('is refused by its index', async () => {
    const files = unzipSync(whole);
    for (const { folder: lost } of readBundleIndex(files[INDEX_PATH]!).operations) {
      const verdict = await verdictOn(without(files, `${lost}/`));
      expect([lost, verdict.exitCode]).toEqual([lost, 1]);
      expect(refusals(verdict)).toContain(`${lost}/event.json bundle_mismatch`);
    }
  });

  it('is refused too when the index lists no file of it, and when it counts another number', async () => {
    const { [PAGE_PATH]: _, ...files } = unzipSync(whole);
    const index = JSON.parse(new TextDecoder().decode(files[INDEX_PATH])) as Record<string, unknown>;
    const listed = (index['files'] as { operation?: number }[]).filter(({ operation }) => operation !== 2);
    const rewritten = (changes: object) => ({ ...files, [INDEX_PATH]: utf8(JSON.stringify({ ...index, ...changes })) });
    expect((await verdictOn(without(rewritten({ files: listed }), '0002-'))).exitCode).toBe(1);
    expect((await verdictOn(rewritten({ operation_count: 4 }))).exitCode).toBe(1);
    expect((await verdictOn(rewritten({ version: 2 }))).exitCode).toBe(3);
  });

  it('is not called complete when the index was written again without it', async () => {
    const files = unzipSync(whole);
    const verdict = await verdictOn(indexedAgain(without(files, '0002-'), 2));
    expect(verdict.claims.filter(({ kind }) => kind === 'event')).toHaveLength(8);
    expect(verdict.not_covered.find(({ piece }) => piece === INDEX_PATH)?.detail).toContain('no other operation');
  });

  it('is unproven without any index', async () => {
    const { [INDEX_PATH]: _, [PAGE_PATH]: page, ...files } = unzipSync(whole);
    const verdict = await verdictOn(without(files, '0002-'));
    expect([verdict.exitCode, verdict.outcome]).toEqual([3, 'incomplete']);
    // The page still has what was lost.
    const shown = await verdictOn({ ...without(files, '0002-'), [PAGE_PATH]: page! });
    expect(refusals(shown)).toEqual([`${PAGE_PATH} bundle_mismatch`]);
  });
});

describe('what a bundle has beside its evidence', () => {
  it('is named as not checked, and is unproven where it claims to be evidence', async () => {
    const files = unzipSync(bundles.get('created')!);
    const statement = files['transparent-statement.cose']!;
    const text = await verdictOn({ ...files, 'notes.txt': utf8('called back on Monday') });
    expect(text.exitCode).toBe(0);
    expect(text.not_covered).toContainEqual(expect.objectContaining({ piece: 'notes.txt', why: 'explanation' }));
    for (const [path, bytes] of [
      ['more/transparent-statement.cose', utf8('x')],
      ['statement.bin', statement],
      ['old.zip', bundles.get('note')!],
      ['more/page.html', files[PAGE_PATH]!],
    ] as const) {
      const verdict = await verdictOn({ ...files, [path]: bytes });
      expect([path, verdict.exitCode]).toEqual([path, 3]);
      expect(verdict.not_covered).toContainEqual(expect.objectContaining({ piece: path, why: 'unproven' }));
    }
  });

  it('says when its copies of keys are others than the given ones', async () => {
    const files = unzipSync(bundles.get('created')!);
    const stranger = { kty: 'EC', crv: 'P-256', ...pointOf(files['keys/did.json']!) };
    const copy = utf8(JSON.stringify({ keys: [stranger] }));
    const verdict = await verdictOn(indexedAgain({ ...files, 'keys/log-keys.cbor': copy }));
    expect(verdict.exitCode).toBe(0);
    const named = verdict.not_covered.find(({ piece }) => piece === 'keys/log-keys.cbor');
    expect(named?.detail).toContain('1 of its 1 keys are not among the keys that you gave');
    expect(genuine.not_covered.find(({ piece }) => piece === 'keys/log-keys.cbor')?.detail).not.toContain('not among');
  });
});

describe('a bundle without its statements, which its index does not list either', () => {
  const STATEMENTS = ['transparent-statement.cose', 'signed-statement.cose', 'statement-log-receipt.cose'];
  const lacking = async (name: string) => {
    const files = unzipSync(bundles.get(name)!);
    const others = Object.entries(files).filter(([path]) => !STATEMENTS.includes(path));
    const verdict = await verdictOn(indexedAgain(Object.fromEntries(others)));
    return verdict.missing.map(({ what }) => what).includes('statement');
  };

  it.each(['created', 'public', 'freeTemplate'])(
    'is said to lack them if its event is about a vCon: %s',
    async (name) => {
      expect(await lacking(name)).toBe(true);
      expect(genuine.missing.map(({ what }) => what)).not.toContain('statement');
    },
  );

  it('is complete if its event is about none', async () => {
    expect(await lacking('note')).toBe(false);
  });
});

describe('a zip of which the end is missing', () => {
  it('is named and said to be damaged, not to be without a key manifest', async () => {
    const short = join(folder, 'short.zip');
    const zip = bundles.get('created')!;
    writeFileSync(short, zip.subarray(0, zip.length - 100));
    const root = running.service.rootFingerprint;
    for (const options of [keys, ['--root', root]]) {
      const { err, exitCode } = await cli('verify', short, ...options);
      expect([err, exitCode]).toEqual([expect.stringContaining(`${short}: the evidence bundle is damaged`), 2]);
    }
  });
});

const EVIDENCE = /(<script id="evidence" type="application\/zip">)[^<]*/;

describe('the page of a bundle', () => {
  const named = ({ not_covered }: VerdictDocument) => not_covered.find(({ piece }) => piece === PAGE_PATH);
  const pageOf = (name: string) => unzipSync(bundles.get(name)!)[PAGE_PATH]!;
  const edited = (name: string, from: RegExp, to: string) =>
    utf8(new TextDecoder().decode(pageOf(name)).replace(from, to));

  it('is not evidence, and is known by its build', async () => {
    for (const [, zip] of bundles) {
      const { outcome, not_covered } = await verdictOn(unzipSync(zip));
      const page = not_covered.find(({ piece }) => piece === PAGE_PATH);
      expect([outcome, page]).toEqual(['verified', expect.objectContaining({ why: 'explanation' })]);
      expect(page?.detail).toContain('It is the page of this version');
    }
    expect(named(genuine)?.detail).toContain('It is the page of this version');
  });

  it('of another build is named and not refused', async () => {
    const files = unzipSync(bundles.get('created')!);
    const other = await verdictOn({ ...files, [PAGE_PATH]: edited('created', /<body>/, '<body><h1>VERIFIED</h1>') });
    expect([other.outcome, named(other)?.detail]).toEqual(['verified', expect.stringContaining('does not know')]);
    const none = await verdictOn({ ...files, [PAGE_PATH]: utf8('<!doctype html><h1>VERIFIED</h1>') });
    expect([none.outcome, named(none)?.detail]).toEqual([
      'verified',
      expect.stringContaining('not the page of a bundle'),
    ]);
  });

  it('that shows other evidence than the bundle is refused', async () => {
    const files = unzipSync(bundles.get('created')!);
    for (const [page, code] of [
      [pageOf('transcribed'), 'bundle_mismatch'],
      [edited('created', EVIDENCE, '$1AAAA'), 'malformed'],
      [edited('created', EVIDENCE, '$1AAA'), 'malformed'],
    ] as const) {
      const verdict = await verdictOn({ ...files, [PAGE_PATH]: page });
      expect(refusals(verdict)).toEqual([`${PAGE_PATH} ${code}`]);
    }
    const { 'event.json': _, ...less } = files;
    expect(refusals(await verdictOn(less))).toContain(`${PAGE_PATH} bundle_mismatch`);
    const copies = await verdictOn({ ...files, 'keys/did.json': utf8('{}') });
    expect([copies.outcome, named(copies)?.detail]).toEqual(['verified', expect.stringContaining('Copies of keys')]);
  });

  it('is checked without the bundle too: it contains the other files', async () => {
    for (const zip of [bundles.get('created')!, whole]) {
      const { [PAGE_PATH]: page, ...files } = unzipSync(zip);
      const path = file('index.html', page!);
      const alone = await verify(path);
      const { claims } = await verdictOn(files);
      expect([alone.outcome, alone.claims.length]).toEqual(['verified', claims.length]);
      expect((await cli('verify', ...keys, path)).out).toContain('the page of a bundle');
      expect(alone.not_covered.find(({ piece }) => piece === path)?.detail).toContain('It is the page of this version');
    }
  });

  it('that holds only a part of a bundle proves that part, and names the files that it lacks', async () => {
    const { [PAGE_PATH]: page, ...files } = unzipSync(whole);
    const isLog = (path: string) => path.startsWith('log/');
    const part = Object.fromEntries(Object.entries(files).filter(([path]) => !isLog(path)));
    const base64 = Buffer.from(zipSync(part)).toString('base64');
    const text = new TextDecoder().decode(page).replace(EVIDENCE, `$1${base64}`);
    const alone = await verify(file('part.html', text));
    expect([alone.outcome, alone.contradictions]).toEqual(['incomplete', []]);
    const named = alone.not_covered.flatMap(({ piece, detail }) =>
      detail.includes('the page does not contain it: not checked. Give the whole bundle') ? [piece] : [],
    );
    expect(named.sort()).toEqual(Object.keys(files).filter(isLog).sort());
    expect(newClaims(alone, genuine)).toEqual([]);
    expect((await verdictOn({ ...files, [PAGE_PATH]: utf8(text) })).outcome).toBe('verified');
    expect((await verdictOn(part)).outcome).toBe('refused');
  });

  it('does not cover a conversation that somebody has put beside it, whatever its bytes', async () => {
    const files = unzipSync(bundles.get('created')!);
    for (const unpacked of [false, true])
      for (const text of [VCON, VCON.replace('"dialog": []', '"dialog": [{}]')]) {
        const { outcome, not_covered } = await verdictOn({ ...files, 'call.vcon.json': utf8(text) }, { unpacked });
        const beside = not_covered.find(({ piece }) => piece.endsWith('call.vcon.json'));
        expect([outcome, beside?.why]).toEqual(['incomplete', 'unproven']);
      }
    const notes = await verdictOn({ ...files, 'notes.txt': utf8('to be filed') });
    expect(notes.outcome).toBe('verified');
  });

  it('of another build is named where it is given alone: only the evidence in it was checked', async () => {
    const forged = file('forged.html', edited('created', /<body>/, '<body><h1>VERIFIED</h1>'));
    const { outcome, not_covered } = await verify(forged);
    expect([outcome, not_covered.find(({ piece }) => piece === forged)?.detail]).toEqual([
      'verified',
      expect.stringContaining('only the evidence in it was checked. It is a page that this verifier does not know'),
    ]);
  });
});

/** A point of a key that is not the log's. */
function pointOf(didDocument: Uint8Array): { x: string; y: string } {
  const [method] = (JSON.parse(new TextDecoder().decode(didDocument)) as { verificationMethod: unknown[] })
    .verificationMethod as [{ publicKeyJwk: { x: string; y: string } }];
  return { x: method.publicKeyJwk.x, y: method.publicKeyJwk.y };
}
