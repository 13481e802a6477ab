import { createHash } from 'node:crypto';
import { decode } from 'cborg';
import { unzipSync } from 'fflate';
import { toHex, utf8 } from '../../src/core/bytes.js';
import { sendCose } from '../api/send-cose.js';
import { type Client, startTestService, type TestService, template, until } from '../api/test-service.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';

const CONFIRMED_MS = 60_000;
/** Massifs of four leaves: a log has several, and a file is small. */
const MASSIF_HEIGHT = 3;
const UUID = '0192e8f5-0000-7000-8000-0000000000c1';
const CALL = utf8(
  `{"vcon": "0.3.0", "uuid": "${UUID}", "created_at": "2025-01-16T16:12:38+00:00", "parties": [{"name": "Zo\\u00eb"}], "dialog": [{"type": "text", "start": "2025-01-16T16:12:38+00:00", "parties": [0], "mediatype": "text/plain", "body": "hello"}], "analysis": [], "attachments": []}`,
);
const LATER_CALL = utf8(`{"vcon": "0.3.0", "uuid": "${UUID}", "parties": [], "dialog": [], "group": [1]}`);

/** One operation's evidence, every piece as the service hands it out. */
export interface EvidenceSet {
  readonly name: string;
  readonly document: Uint8Array;
  readonly event: Uint8Array;
  /** Absent of an event that no statement is made of. */
  readonly statement?: Uint8Array | undefined;
  readonly transparentStatement?: Uint8Array | undefined;
  readonly statementReceipt?: Uint8Array | undefined;
  /** In the draft's form and as a map. */
  readonly receipt: Uint8Array;
  readonly mapReceipt: Uint8Array;
  readonly massif: Uint8Array;
  readonly seal: Uint8Array;
  /** The files of the evidence bundle. */
  readonly bundle: Readonly<Record<string, Uint8Array>>;
}

/** Genuine evidence, and the keys that it is checked with. */
export interface GenuineEvidence {
  readonly sets: readonly EvidenceSet[];
  /** COSE key set of the logs; key documents of the service and of the registered statement's issuer. */
  readonly logKeys: Uint8Array;
  readonly issuerKeys: readonly Uint8Array[];
}

interface Planned {
  readonly name: string;
  readonly client: Client;
  /** Path of the event under `/archivist`. */
  readonly path: string;
  readonly document: Uint8Array;
}

/**
 * Lets the real service record operations of two tenancies, of private and public assets, without an asset and of a
 * registered statement, one of them in a log of one leaf; the service is stopped once all evidence is there.
 */
export async function genuineEvidence(): Promise<GenuineEvidence> {
  const running = await startTestService({ MASSIF_HEIGHT: String(MASSIF_HEIGHT) });
  try {
    const one = await running.client({ otherTenancy: true, massifHeight: MASSIF_HEIGHT });
    const other = await running.client({ otherTenancy: true, massifHeight: MASSIF_HEIGHT });
    const single = await running.client({ otherTenancy: true, massifHeight: MASSIF_HEIGHT });
    const issuer = sampleIssuer();
    const planned = [
      ...(await ofTenancy(one, 'A')),
      ...(await ofTenancy(other, 'B')),
      await assetFree(single, 'C, one leaf', 'vcon_created', CALL),
      await registered(running, one, sampleStatement(issuer, { subject: `vcon://${UUID}`, payload: digestOf(CALL) })),
    ];
    for (const { client, path } of planned) await answered(client, `/archivist/${path}/receipt`);
    // Only now do the log files stand still: every set of a log has the same.
    const sets: EvidenceSet[] = [];
    for (const each of planned) sets.push(await setOf(each));
    return {
      sets,
      logKeys: (await running.anonymous.get('/.well-known/scitt-keys')).bytes,
      issuerKeys: [
        (await running.anonymous.get('/archivist/v1/didweb/did.json')).bytes,
        utf8(JSON.stringify(issuer.publicKey.export({ format: 'jwk' }))),
      ],
    };
  } finally {
    await running.close();
  }
}

function digestOf(document: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(document).digest());
}

/** Declared at different times, as operations are: otherwise two of one kind on the same bytes have the same statement. */
let declaredSeconds = 0;

function attributesOf(operation: string, document: Uint8Array, more: Record<string, unknown> = {}) {
  return template(`vcon://${UUID}`, {
    arc_display_type: operation,
    vcon_operation: operation,
    payload: toHex(digestOf(document)),
    timestamp_declared: new Date(Date.UTC(2026, 10, 20, 10) + 1000 * declaredSeconds++).toISOString(),
    ...more,
  });
}

async function ofTenancy(client: Client, name: string): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (const isPublic of [false, true]) {
    const asset = await client.post('/archivist/v2/assets', { attributes: { kind: 'call' }, public: isPublic });
    const assetName = isPublic ? 'public asset' : 'private asset';
    const record = async (operation: string, document: Uint8Array) => {
      const { json } = await client.post(`/archivist/v2/${asset.json['identity']}/events`, {
        operation: 'Record',
        behaviour: 'RecordEvidence',
        event_attributes: attributesOf(operation, document, { note: ['a', { 'é<&>': 'b' }] }),
        asset_attributes: { last: operation },
      });
      const path = `v2/${json['identity']}`;
      planned.push({ name: `${name}, ${assetName}, ${operation}`, client, path, document });
      return path;
    };
    const created = await record('vcon_created', CALL);
    // Two operations on the same bytes: their statements have the same payload.
    if (!isPublic) await record('vcon_transcribed', CALL);
    if (!isPublic) await record('vcon_redacted', LATER_CALL);
    if (isPublic)
      planned.push({ name: `${name}, public form`, client, path: created.replace('v2/', 'v2/public'), document: CALL });
  }
  planned.push(await assetFree(client, name, 'vcon_created', CALL));
  return planned;
}

async function assetFree(client: Client, name: string, operation: string, document: Uint8Array): Promise<Planned> {
  const { json } = await client.post('/archivist/v1/events', {
    event_type: operation,
    attributes: attributesOf(operation, document),
    trails: [`vcon://${UUID}`, 'calls'],
  });
  return { name: `${name}, asset-free, ${operation}`, client, path: `v1/${json['identity']}`, document };
}

/** Registers a statement by the stock clients' endpoint and returns the event that it became. */
async function registered({ url }: TestService, client: Client, statement: Uint8Array): Promise<Planned> {
  const door = '/archivist/v1/publicscitt';
  const posted = await sendCose(url, client, `${door}/entries`, statement, {});
  const { OperationID: operation } = decode(posted.bytes) as { OperationID: string };
  const state = (bytes: Uint8Array) => decode(bytes) as Record<string, string>;
  const done = await until(
    () => client.get(`${door}/operations/${operation}`),
    ({ status, bytes }) => status === 200 && state(bytes)['Status'] === 'succeeded',
    CONFIRMED_MS,
  );
  const [, asset, event] = /^assets_(.+)_events_(.+)$/.exec(state(done.bytes)['EntryID']!)!;
  return { name: 'registered statement', client, path: `v2/publicassets/${asset}/events/${event}`, document: CALL };
}

async function answered(client: Client, path: string): Promise<Uint8Array> {
  const { status, bytes } = await until(
    () => client.get(path),
    (answer) => answer.status === 200,
    CONFIRMED_MS,
  );
  if (status !== 200) throw new Error(`${path}: ${status} ${new TextDecoder().decode(bytes)}`);
  return bytes;
}

async function setOf({ name, client, path, document }: Planned): Promise<EvidenceSet> {
  const of = (proof: string) => answered(client, `/archivist/${path}${proof}`);
  const bundle = unzipSync(await of('/evidence'));
  const logFile = (ending: string) => Object.entries(bundle).find(([file]) => file.endsWith(ending))![1];
  return {
    name,
    document,
    event: await of(''),
    statement: bundle['signed-statement.cose'],
    transparentStatement: bundle['transparent-statement.cose'],
    statementReceipt: bundle['statement-log-receipt.cose'],
    receipt: await of('/receipt?form=draft'),
    mapReceipt: await of('/receipt?form=map'),
    massif: logFile('.log'),
    seal: logFile('.sth'),
    bundle,
  };
}
