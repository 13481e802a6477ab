import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, startTestService, type TestService, until } from '../api/test-service.js';
import { installPackages, type PythonEnvironment, python } from './python.js';

/** On a loaded machine events take their time to be confirmed, and a window waits for all of its events. */
const ANCHORED_MS = 240_000;

interface Details {
  readonly api_query: string;
  readonly anchor_hash: string;
  readonly event_count: number;
}

/** The stock verifier, as its README says to run it: it prints the hash over what the query lists. */
describe.skipIf(!python)('the stock simple-hash verifier', () => {
  let running: TestService;
  let environment: PythonEnvironment;
  let folder: string;
  let event: string;
  let details: Details;
  let publicDetails: Details;

  beforeAll(async () => {
    environment = await installPackages('datatrails-simplehash==0.5.0');
    running = await startTestService({ ANCHOR_SCHEDULE: '* * * * * *', PLUGIN_PORT: '0' });
    folder = await mkdtemp(join(tmpdir(), 'archivist-interop-'));
    const { owner } = running;
    const asset = await madeAsset(owner, false);
    // More than the verifier's page of ten.
    for (let place = 0; place < 23; place += 1) event = await recorded(owner, asset, place);
    const publicEvent = await recorded(owner, await madeAsset(owner, true), 0);
    details = await anchored(owner, event);
    const stranger = await running.client({ otherTenancy: true });
    publicDetails = await anchored(stranger, publicEvent);
  });
  afterAll(async () => {
    await running?.close();
    await environment?.remove();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const verified = async (schema: 1 | 2, query: string, token?: string) => {
    const secret = join(folder, 'token');
    if (token !== undefined) await writeFile(secret, token);
    const authorization = token === undefined ? [] : ['--auth-token-file', secret];
    const module = `datatrails_simplehash.v${schema}`;
    const { out, err } = await environment.run('-m', module, ...authorization, query);
    return `${out}${err}`.trim();
  };

  it.each([1, 2] as const)('finds an anchor again in schema %i', async (schema) => {
    const query = details.api_query.replace('SIMPLEHASHV2', `SIMPLEHASHV${schema}`);
    expect(await verified(schema, query, running.owner.token)).toBe(details.anchor_hash);
  });

  it('finds the anchor of public events again without a token', async () => {
    expect(await verified(2, publicDetails.api_query)).toBe(publicDetails.anchor_hash);
  });

  it('finds another hash once an event is altered', async () => {
    const id = event.split('/').at(-1);
    await running.asOwner(
      `UPDATE archivist.asset_event SET event_attributes = '{"note":"another"}' WHERE event_id = '${id}'`,
    );
    for (const schema of [1, 2] as const) {
      const answer = await verified(schema, details.api_query, running.owner.token);
      expect(answer).toMatch(/^[0-9a-f]{64}$/);
      expect(answer).not.toBe(details.anchor_hash);
    }
  });

  it('refuses a window with an event that is not confirmed', async () => {
    await running.asOwner("UPDATE archivist.log SET halted = 'for a test'");
    const asset = await madeAsset(running.owner, false);
    await recorded(running.owner, asset, 0);
    const open = details.api_query.replace(/&timestamp_accepted_before=[^&]*/, '');
    expect(await verified(2, open, running.owner.token)).toContain('illegal confirmation status');
  });
});

async function madeAsset(owner: Client, isPublic: boolean): Promise<string> {
  const body = { attributes: { arc_display_name: 'Tür' }, proof_mechanism: 'SIMPLE_HASH', public: isPublic };
  return String((await owner.post('/archivist/v2/assets', body)).json['identity']);
}

async function recorded(owner: Client, asset: string, place: number): Promise<string> {
  const body = {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: { note: `note ${place} ❖`, list: [{ z: 'a', é: ['b'] }, 'c'], empty: {} },
    asset_attributes: { last: String(place) },
    timestamp_declared: '2019-11-27T14:44:19Z',
    principal_declared: { issuer: 'idp', subject: 'sub', display_name: 'Ünal', email: 'u@example.com' },
  };
  return String((await owner.post(`/archivist/v2/${asset}/events`, body)).json['identity']);
}

async function anchored(client: Client, event: string): Promise<Details> {
  const { json } = await until(
    () => client.get(`/archivist/v1alpha2/blockchain/${event}`),
    (answer) => (answer.json['transactions'] as unknown[] | undefined)?.length === 1,
    ANCHORED_MS,
  );
  return (json['transactions'] as { simple_hash_details: Details }[])[0]!.simple_hash_details;
}
