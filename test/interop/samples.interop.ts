import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { installPackages, type PythonEnvironment, python } from './python.js';

const PACKAGE = 'datatrails-samples==0.20.0';
const FAST = ['--wait', '0.01', '--fast-forward', '3600000'];

/** Each program as its README says to run it, in an order that they need, and what it says when its work is done. */
const PROGRAMS: readonly (readonly [program: string, arguments_: readonly string[], says: RegExp])[] = [
  ['document', [], /V3 published, with discount applied/],
  ['c2pa', [], /V1\.3\.ME published/],
  ['sbom_document', [], /Release registered/],
  ['software_bill_of_materials', ['--namespace', 'bill'], /Release registered/],
  ['wipp', [], /Emplacement registered/],
  ['signed_records', ['--create', 'x'], /Generate crypto asset/],
  ['signed_records', ['--sign-message', 'all is well', 'x'], /Submit signed evidence/],
  ['signed_records', ['--bad-sign-message', 'all is well', 'x'], /Submit badly signed evidence/],
  ['signed_records', ['--check', 'x'], /X BAD[\s\S]*√ GOOD/],
  ['door_entry', ['--create'], /All cards created/],
  ['synsation initialise', ['--num-assets', '5', '--await-confirmation'], /5 assets of 3 different types created/],
  ['synsation analyze', [], /Done\./],
  ['synsation simulator', ['--asset-name', 'tcl.ccj.001', ...FAST], /Done\./],
  ['synsation wanderer', FAST, /Done\./],
  [
    'synsation charger',
    ['--start-date', '20260101', '--stop-date', '20260102', '--fast-forward', '36000'],
    /reached end time/,
  ],
  ['estate_info', ['--quick-count'], /Number of events is \d{3}/],
];

describe.skipIf(!python)(`the programs of ${PACKAGE}, unmodified`, () => {
  let running: TestService;
  let environment: PythonEnvironment;
  let folder: string;
  beforeAll(async () => {
    environment = await installPackages(PACKAGE);
    running = await startTestService({ PLUGIN_PORT: '0' });
    folder = await mkdtemp(join(tmpdir(), 'archivist-samples-'));
    await writeFile(join(folder, 'token'), running.owner.token);
  });
  afterAll(async () => {
    await running?.close();
    await environment?.remove();
    if (folder) await rm(folder, { recursive: true });
  });

  /** What a program says, on either stream. */
  async function said(program: string, arguments_: readonly string[]): Promise<string> {
    const [name, ...subcommand] = program.split(' ');
    const all = [...subcommand, '--url', running.url, '--auth-token', 'token', ...arguments_];
    const { code, out, err } = await environment.runProgram(`archivist_samples_${name}`, all, { cwd: folder });
    expect([code, err.includes('Traceback') ? err : '']).toEqual([0, '']);
    return `${out}${err}`;
  }

  it.each(PROGRAMS)('%s %j', async (program, arguments_, says) => {
    expect(await said(program, arguments_)).toMatch(says);
  });

  it('door_entry: a card opens a door', async () => {
    const listed = await said('door_entry', ['--list', 'all']);
    const assets = [...listed.matchAll(/Asset name:\s*(.*)\n\s*Asset type:\s*(.*)\n\s*Archivist ID:\s*(\S+)/g)];
    const [, door, , identity] = assets.find(([, , type]) => /terminal/i.test(type!))!;
    await said('door_entry', ['--open-door', `${door},access_card_1`]);
    const { json } = await running.owner.get(
      `/archivist/v2/${identity}/events?event_attributes.arc_display_type=Door Open`,
    );
    expect(json['events']).toHaveLength(1);
  });

  it('estate_info: no event is listed twice, and none is missing from its asset', async () => {
    const report = await said('estate_info', ['--double-check']);
    expect(report).toMatch(/There are \d+ events registered against \d+ assets/);
    expect(report).not.toContain('!!');
  });
});
