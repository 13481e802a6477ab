import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { evidenceFolder } from '../../src/core/evidence/evidence-file.js';
import { verifyEvidence } from '../../src/core/evidence/verify-evidence.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
} from '../core/verify/sample-transparent-statement.js';
import { verifyRig } from './verify-rig.js';

type Files = Readonly<Record<string, Uint8Array>>;
interface Verdict {
  readonly outcome: string;
  readonly claims: readonly { readonly kind: string }[];
  readonly not_covered: readonly { readonly piece: string; readonly why: string; readonly detail: string }[];
}

const { folder, file, verify, remove } = verifyRig('verify-replica');
const log = sampleSealedLog({ leaves: 8 });
const BASE = `log/tenant/${SAMPLE_TENANCY}/0`;
const massif = (number: number) => `${BASE}/massifs/000000000000000${number}.log`;
const seal = (number: number) => `${BASE}/massifseals/000000000000000${number}.sth`;
let places = 0;

async function replica(): Promise<Files> {
  return {
    [massif(0)]: log.massif(0, 4),
    [seal(0)]: await log.seal(4),
    [massif(1)]: log.massif(1, 8),
    [seal(1)]: await log.seal(8),
  };
}

/** Ways in which a person gives these files; each answers with what it names as unchecked, without the place. */
const WAYS: readonly (readonly [way: string, verdictOf: (files: Files) => Promise<readonly [Verdict, string]>])[] = [
  [
    'a folder',
    async (files) => {
      places += 1;
      for (const [path, bytes] of Object.entries(files)) file(`${places}/${path}`, bytes);
      return given(join(folder, String(places)));
    },
  ],
  [
    'a zip',
    async (files) => {
      places += 1;
      return given(file(`${places}.zip`, zipSync(files)));
    },
  ],
  [
    'a folder that a page was given',
    async (files) => {
      const logKeys = [sampleSigners.sealer.publicKey];
      const { verdict } = await verifyEvidence([evidenceFolder('given', files)], {
        ...{ logKeys: async () => logKeys, issuers: async () => ({ issuerKeys: [] }), issuer: undefined },
        ...{ hasIssuers: true, statementLog: {}, tenancyLog: {}, witnesses: [], quorum: 0, witnessedLog: undefined },
        ...{ statementOnly: false, verifySignature: nodeVerify },
      });
      return [{ ...verdict, not_covered: verdict.notCovered }, 'given'];
    },
  ],
];

async function given(path: string): Promise<readonly [Verdict, string]> {
  return [JSON.parse((await verify('--json', path)).out) as Verdict, path];
}

/** What is named as a whole piece of which nothing was checked. */
const uncheckedIn = ([{ not_covered }, place]: readonly [Verdict, string]) =>
  not_covered.filter(({ why }) => why !== 'by_design').map(({ piece, why }) => [piece.slice(place.length + 1), why]);

afterAll(remove);

describe.each(WAYS)('a replica of logs as %s', (_, verdictOf) => {
  it('is incomplete with any other file in it, and each is named', async () => {
    const others = {
      'call.vcon.json': SAMPLE_VCON,
      'call.cose': (await sampleStatement(sampleAttributes(SAMPLE_VCON))).slice(0, -1),
      [`${massif(1)}.bak`]: log.massif(1, 8),
      [`${BASE}/massifs/1.log`]: log.massif(1, 8),
      'other/massifseals/0000000000000000.sth': await log.seal(4),
      'a/b/c/d/e/f/g/call.vcon.json': SAMPLE_VCON,
    };
    const answer = await verdictOf({ ...others, ...(await replica()) });
    expect(answer[0]).toMatchObject({ outcome: 'incomplete', claims: [{ kind: 'log' }] });
    expect(new Map(uncheckedIn(answer) as [string, string][])).toEqual(
      new Map(Object.keys(others).map((path) => [path, 'unproven'])),
    );
  });

  it('is incomplete when a seal has lost its massif, so that the end of a log is not cut off without a trace', async () => {
    const { [massif(1)]: lost, ...files } = await replica();
    const answer = await verdictOf(files);
    expect([lost !== undefined, answer[0].outcome]).toEqual([true, 'incomplete']);
    expect(answer[0].not_covered).toContainEqual({
      piece: `${answer[1]}/${seal(1)}`,
      members: [],
      why: 'unproven',
      detail: 'its massif is missing in the replica: not checked',
    });
  });

  it('names the nodes that stand behind its newest seal', async () => {
    const unsealed = /^no given seal covers the nodes from \d+ on$/;
    const details = async (files: Files) => (await verdictOf(files))[0].not_covered.map(({ detail }) => detail);
    expect((await details(await replica())).filter((detail) => unsealed.test(detail))).toEqual([]);
    const files = { ...(await replica()), [seal(1)]: await log.seal(7) };
    expect((await details(files)).filter((detail) => unsealed.test(detail))).toHaveLength(1);
  });

  it('is refused below the name of another tenancy, however that is written', async () => {
    const other = '9F4B1D8A-0000-4000-8000-000000000000';
    for (const place of [`log/tenant/${other.toLowerCase()}/0`, `log/tenant/${other}/0`, `tenant/${other}/0/more`]) {
      const moved = Object.entries(await replica()).map(([path, bytes]) => [path.replace(BASE, place), bytes] as const);
      expect([place, (await verdictOf(Object.fromEntries(moved)))[0].outcome]).toEqual([place, 'refused']);
    }
  });

  it('stays verified with the files of operating systems and of a crashed service, which it names too', async () => {
    const others = ['.DS_Store', `${BASE}/massifs/.unfinished-0000000000000001.log-7c9e`, '__MACOSX/log/._tenant'];
    const files = Object.fromEntries(others.map((path) => [path, utf8('x')]));
    const answer = await verdictOf({ ...files, ...(await replica()) });
    expect(answer[0].outcome).toBe('verified');
    expect(uncheckedIn(answer).toSorted()).toEqual(others.map((path) => [path, 'explanation']).toSorted());
  });
});

it('a link in a replica is not followed: it may lead anywhere', async () => {
  const files = await replica();
  for (const [path, bytes] of Object.entries(files)) file(`linked/${path}`, bytes);
  const place = join(folder, 'linked', massif(1));
  const elsewhere = file('elsewhere.log', files[massif(1)]!);
  rmSync(place);
  symlinkSync(elsewhere, place);
  const { err, exitCode, out } = await verify(join(folder, 'linked'));
  expect([exitCode, err]).toEqual([2, `error: ${place} is not a file`]);
  expect(out).toBe('');
});

it('a folder in a replica that is nested too deeply to be looked into is named', async () => {
  file('deep/a/b/c/d/e/f/g/h/call.vcon.json', SAMPLE_VCON);
  for (const [path, bytes] of Object.entries(await replica())) file(`deep/${path}`, bytes);
  const answer = await given(join(folder, 'deep'));
  expect([answer[0].outcome, uncheckedIn(answer)]).toEqual(['incomplete', [['a/b/c/d/e/f/g/h/', 'unproven']]]);
});
