import type { KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AUDITED_TABLES } from '../../src/cli/audited-columns.js';
import { equalBytes, toHex } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import { VerificationError } from '../../src/core/errors.js';
import { parseEventDocument } from '../../src/core/statement/event-document.js';
import { readTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { verifyEvent } from '../../src/core/verify/verify-event-in-log.js';
import { verifyReceipt } from '../../src/core/verify/verify-receipt.js';
import { verifyTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { parseConfig } from '../../src/service/config/config.js';
import { type RunningService, startService } from '../../src/start-service.js';
import { allColumns, asSuperuser, type Column, type FilledDeployment, startFilledDeployment } from './superuser-rig.js';
import { tamperings } from './tampering.js';

/** What a path's evidence says, once it verified. */
type Facts = Readonly<Record<string, unknown>>;

let filled: FilledDeployment;
let service: RunningService;
let columns: Column[];
let paths: string[];
let trust: { readonly logKeys: readonly PublicJwk[]; readonly issuerKeys: readonly PublicJwk[] };
let tenancy: string;
const pristine = new Map<string, { bytes: Uint8Array; facts: Facts }>();
let published: Set<string>;
let lastRefusal = '';

beforeAll(async () => {
  filled = await startFilledDeployment();
  const { running, events } = filled;
  await restart();
  columns = await allColumns(service.parts.database);
  paths = pathsOf(events);
  const shown = await running.owner.get(`/archivist/v2/${events.asset}`);
  tenancy = String(shown.json['tenant_identity']).replace('tenant/', '');
  trust = await fetchedKeys();
  for (const path of paths) {
    const answer = await running.owner.get(path);
    const facts = answer.status === 200 && (await verified(path, answer.bytes));
    if (!facts)
      throw new Error(`${path} (${answer.status}) does not verify before anything is changed: ${lastRefusal}`);
    pristine.set(path, { bytes: answer.bytes, facts });
  }
  published = await publishedKeys();
}, 240_000);
afterAll(async () => {
  await service?.close();
  await filled?.close();
});

/** The service again, with nothing to do: no witnesses, no anchors, and every log's lease in other hands. */
async function restart(): Promise<void> {
  await filled.running.service.close();
  const quiet = { ...filled.running.environment, WITNESSES: '', ANCHOR_SCHEDULE: '0 0 1 1 *' };
  service = await startService(parseConfig(quiet));
  await asSuperuser(
    service.parts.database,
    `UPDATE archivist.log SET lease_holder = 'nobody', lease_epoch = lease_epoch + 1, lease_until = 'infinity' RETURNING 1`,
  );
}

function pathsOf(events: FilledDeployment['events']): string[] {
  const [asset, shown] = [`/archivist/v2/${events.asset}`, `/archivist/v2/${events.public}`];
  const owned = [asset, shown, shown.replace('/assets/', '/publicassets/'), `/archivist/v1/${events.free}`];
  const statements = [...owned, `/archivist/v1/${events.freeTemplate}`].map(
    (event) => `${event}/transparent-statement`,
  );
  return [...statements, ...[...owned, `/archivist/v2/${events.plain}`].map((event) => `${event}/evidence`)];
}

/** Keys as somebody fetched them before anything was changed. */
async function fetchedKeys(): Promise<typeof trust> {
  const { anonymous } = filled.running;
  const did = (await anonymous.get('/archivist/v1/didweb/did.json')).json;
  const methods = did['verificationMethod'] as { publicKeyJwk: PublicJwk }[];
  return {
    logKeys: decodeCoseKeySet((await anonymous.get('/.well-known/scitt-keys')).bytes),
    issuerKeys: methods.map(({ publicKeyJwk }) => publicKeyJwk),
  };
}

/** What evidence says, if it verifies with the keys of before; undefined when it does not. */
async function verified(path: string, bytes: Uint8Array): Promise<Facts | undefined> {
  try {
    return path.endsWith('/evidence') ? await bundleFacts(unzipSync(bytes)) : await statementFacts(bytes);
  } catch (error) {
    if (error instanceof VerificationError) {
      lastRefusal = `${error.code}: ${error.message}`;
      return undefined;
    }
    throw error;
  }
}

async function bundleFacts(files: Record<string, Uint8Array>): Promise<Facts> {
  const event = parseEventDocument(new TextDecoder().decode(files['event.json']));
  const log = (extension: string) =>
    Object.entries(files).find(([name]) => name.startsWith('log/') && name.endsWith(extension))![1];
  await verifyEvent(event, { massif: log('.log'), seal: log('.sth') }, trust);
  for (const receipt of ['tenancy-log-receipt.cose', 'tenancy-log-receipt-map.cose'])
    await verifyReceipt(files[receipt]!, { event }, trust);
  const statement = files['transparent-statement.cose'];
  return { event, ...(statement ? { statement: await statementFacts(statement) } : {}) };
}

async function statementFacts(bytes: Uint8Array): Promise<Facts> {
  await verifyTransparentStatement(bytes, trust);
  const { entry, event } = readTransparentStatement(bytes);
  return { entry: toHex(entry), event };
}

/** The public parts of all keys that the service publishes. */
async function publishedKeys(): Promise<Set<string>> {
  const { anonymous } = filled.running;
  const found: { readonly x?: string; readonly n?: string }[] = decodeCoseKeySet(
    (await anonymous.get('/.well-known/scitt-keys')).bytes,
  );
  for (const path of ['/.well-known/jwks.json', '/jwks'])
    found.push(...(((await anonymous.get(path)).json['keys'] ?? []) as typeof found));
  for (const path of ['did.json', `${tenancy}/did.json`]) {
    const { json } = await anonymous.get(`/archivist/v1/didweb/${path}`);
    const methods = (json['verificationMethod'] ?? []) as { publicKeyJwk: (typeof found)[number] }[];
    found.push(...methods.map(({ publicKeyJwk }) => publicKeyJwk));
  }
  return new Set(found.map(({ x, n }) => x ?? n ?? ''));
}

/** What is wrong while a change is there: evidence that verifies and says something else, or a key that nobody had. */
async function falseVerdicts(): Promise<string[]> {
  const { running } = filled;
  const wrong: string[] = [];
  const answers = await Promise.all(paths.map(async (path) => [path, await running.owner.get(path)] as const));
  for (const [path, answer] of answers) {
    const before = pristine.get(path)!;
    if (answer.status !== 200 || equalBytes(answer.bytes, before.bytes)) continue;
    const facts = await verified(path, answer.bytes);
    if (facts && !isDeepStrictEqual(facts, before.facts)) wrong.push(path);
  }
  for (const key of await publishedKeys().catch(() => new Set<string>()))
    if (!published.has(key)) wrong.push(`publishes the key ${key}`);
  return wrong;
}

describe('a superuser of the database', () => {
  it.each(Object.keys(AUDITED_TABLES))(
    'makes no evidence verify that says something false, by any change of %s',
    async (table) => {
      const own = columns.filter((each) => each.table === table);
      const where = (column?: string) => (column === undefined ? 'true' : `${column} IS NOT NULL`);
      // No proof is made from a table without a covered column: one change of all of its columns is enough.
      const together = AUDITED_TABLES[table]!.covered.length === 0;
      const found: Record<string, string[]> = {};
      for (const change of tamperings(service.parts.database, own, { tenantId: tenancy, where, together })) {
        if ((await change.apply()) === 0) {
          await change.undo();
          continue;
        }
        const wrong = await falseVerdicts().finally(() => change.undo());
        if (wrong.length > 0) found[change.name] = wrong;
      }
      expect(found).toEqual({});
      for (const [path, { bytes }] of pristine) {
        const answer = await filled.running.owner.get(path);
        expect([path, answer.status, equalBytes(answer.bytes, bytes)]).toEqual([path, 200, true]);
      }
    },
    120_000,
  );

  it('has no stranger’s key published or counted, of whatever role and state its row is', async () => {
    const { database, deployment, keys } = service.parts;
    const before = JSON.stringify(keys.manifests.current.manifest.number);
    const stranger = strangersKeys();
    const rows = (['issuer', 'statement_receipt', 'seal', 'note', 'token', 'chain'] as const).flatMap((role) =>
      ['retired', 'pending'].map((state) => [deployment.deploymentTenancy, role, state]),
    );
    for (const role of ['wallet', 'tessera']) rows.push([tenancy, role, 'retired']);
    for (const [place, [tenantId, role, state]] of rows.entries())
      await asSuperuser(
        database,
        `INSERT INTO archivist.signing_key (tenant_id, key_id, role, algorithm, public_jwk, state, valid_from)
         VALUES ('${tenantId}', 'stranger-${place}', '${role}', '${stranger[role!]!.algorithm}',
                 '${JSON.stringify(stranger[role!]!.jwk)}', '${state}', '2020-01-01') RETURNING 1`,
      );
    const listed = rows.filter(([, role]) => role !== 'wallet' && role !== 'tessera').length;
    // Rows are compared with the manifest at every tenth look.
    await vi.waitFor(async () => {
      await keys.adoptNow();
      expect(keys.faults().filter((fault) => fault.includes('is in no key manifest'))).toHaveLength(listed);
    }, 30_000);
    const wrong = await falseVerdicts();
    await asSuperuser(database, `DELETE FROM archivist.signing_key WHERE key_id LIKE 'stranger-%' RETURNING 1`);
    expect([wrong, JSON.stringify(keys.manifests.current.manifest.number)]).toEqual([[], before]);
  }, 120_000);
});

/** Public keys of somebody else, in the form of each role. */
function strangersKeys(): Readonly<Record<string, { readonly algorithm: string; readonly jwk: object }>> {
  const jwk = (pair: { readonly publicKey: KeyObject }) => pair.publicKey.export({ format: 'jwk' });
  const p256 = { algorithm: 'ES256', jwk: jwk(newKeyPair({ type: 'ec', curve: 'P-256' })) };
  const secp256k1 = { algorithm: 'ES256K', jwk: jwk(newKeyPair({ type: 'ec', curve: 'secp256k1' })) };
  const rsa = { algorithm: 'RS256', jwk: jwk(newKeyPair({ type: 'rsa', bits: 2048 })) };
  const note = { algorithm: 'EdDSA', jwk: jwk(newKeyPair({ type: 'ed25519' })) };
  const roles = { issuer: p256, statement_receipt: p256, seal: p256, note, token: rsa };
  return { ...roles, chain: secp256k1, wallet: secp256k1, tessera: p256 };
}
