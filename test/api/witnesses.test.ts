import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { readSeal } from '../../src/core/receipt/seal.js';
import { decodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { verifyCosignature } from '../../src/core/tlog/cosignature.js';
import { decodeNote, encodeVkey } from '../../src/core/tlog/signed-note.js';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { parseConfig } from '../../src/service/config/config.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { faultsOfAudit } from './faults-of-audit.js';
import { sendCose } from './send-cose.js';
import { asSuperuser } from './superuser-rig.js';
import { startTestService, type TestService } from './test-service.js';
import { startTestWitness, type TestWitness } from './test-witness.js';

const PATIENCE = { timeout: 40_000, interval: 200 };
let witnesses: TestWitness[];
let running: TestService | undefined;

beforeEach(async () => {
  witnesses = await Promise.all(['w1', 'w2', 'w3'].map((name) => startTestWitness(`${name}.example`)));
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  await Promise.all(witnesses.map((witness) => witness.close()));
});

/** As many as have one between the oldest and the newest. */
const SEALS = 3;

interface PublicLog {
  readonly vkey: string;
  readonly witnesses: readonly string[];
  readonly url: string;
}

async function start(quorum: number): Promise<PublicLog> {
  running = await startTestService({
    WITNESSES: witnesses.map(({ address }) => address).join(', '),
    WITNESS_QUORUM: String(quorum),
    WITNESS_SECONDS: '1',
  });
  const { logs } = (await running.anonymous.get('/verifiabledata/tlog')).json as {
    logs: (PublicLog & { kind: string })[];
  };
  const log = logs.find(({ kind }) => kind === 'public')!;
  for (const witness of witnesses) witness.knownLogs.push(log.vkey);
  return log;
}

async function event(proofMechanism = 'MERKLE_LOG'): Promise<string> {
  const asset = await running!.owner.post('/archivist/v2/assets', { attributes: {}, proof_mechanism: proofMechanism });
  const made = await running!.owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {},
  });
  return made.json['identity'] as string;
}

async function statusOf(identity: string): Promise<unknown> {
  return (await running!.owner.get(`/archivist/v2/${identity}`)).json['confirmation_status'];
}

const reaches = (identity: string, status: string) =>
  vi.waitFor(async () => expect(await statusOf(identity)).toBe(status), PATIENCE);

async function cosigned(log: PublicLog) {
  const text = new TextDecoder().decode(
    (await running!.anonymous.get(`${new URL(log.url).pathname}/checkpoint`)).bytes,
  );
  const note = decodeNote(text);
  const times = await Promise.all(witnesses.map(({ key }) => verifyCosignature(note, key)));
  return { checkpoint: decodeCheckpoint(note.text), by: times.filter((time) => time !== undefined).length };
}

describe('witnesses', () => {
  it('move an event to UNEQUIVOCAL once a quorum has cosigned a checkpoint above its seal', async () => {
    const log = await start(3);
    expect(log.witnesses).toEqual(witnesses.map(({ key }) => encodeVkey(key)));
    const identity = await event();
    await reaches(identity, 'UNEQUIVOCAL');
    const { json } = await running!.owner.get(`/archivist/v2/${identity}`);
    expect((json['merklelog_entry'] as Record<string, unknown>)['unequivocal']).toEqual({});
    const { checkpoint, by } = await cosigned(log);
    expect(by).toBe(3);
    expect(checkpoint.size).toBeGreaterThan(0n);
    const metrics = async () => new TextDecoder().decode((await running!.anonymous.get('/metrics')).bytes);
    const cosignedAt = async () => Number(/^archivist_cosigned_timestamp_seconds (\S+)$/m.exec(await metrics())?.[1]);
    const before = await cosignedAt();
    await vi.waitFor(async () => expect(await cosignedAt()).toBeGreaterThan(before), PATIENCE);
  }, 60_000);

  it('cosign over the seals themselves: each entry of the public statement log is a seal’s bytes', async () => {
    const log = await start(1);
    await reaches(await event(), 'UNEQUIVOCAL');
    const { size } = (await cosigned(log)).checkpoint;
    const path = `${new URL(log.url).pathname}/tile/entries/000.p/${size}`;
    const { bytes } = await running!.anonymous.get(path);
    const entry = bytes.subarray(2, 2 + ((bytes[0]! << 8) | bytes[1]!));
    expect(readSeal(entry).state.size).toBeGreaterThan(0n);
  }, 60_000);

  it('let lists be filtered by what they vouch for', async () => {
    await start(2);
    const identity = await event();
    await reaches(identity, 'UNEQUIVOCAL');
    const list = async (filter: string) => {
      const { json } = await running!.owner.get(`/archivist/v2/assets/-/events?${filter}`);
      return (json['events'] as { identity: string }[]).map((each) => each.identity);
    };
    expect(await list('confirmation_status=UNEQUIVOCAL')).toContain(identity);
    expect(await list('minimum_trust=UNEQUIVOCAL')).toContain(identity);
    expect(await list('minimum_trust=CONFIRMED')).toContain(identity);
    expect(await list('confirmation_status=CONFIRMED')).not.toContain(identity);
  }, 60_000);

  it('never vouch for events of SIMPLE_HASH assets, nor for asset-free ones', async () => {
    await start(2);
    const simple = await event('SIMPLE_HASH');
    const free = await running!.owner.post('/archivist/v1/events', { attributes: { a: 'b' }, trails: [] });
    await reaches(await event(), 'UNEQUIVOCAL');
    expect(await statusOf(simple)).toBe('CONFIRMED');
    const { json } = await running!.owner.get(`/archivist/v1/${free.json['identity']}`);
    expect(json['confirmation_status']).toBe('CONFIRMED');
    const { json: listed } = await running!.owner.get('/archivist/v2/assets/-/events?confirmation_status=UNEQUIVOCAL');
    expect((listed['events'] as { identity: string }[]).map(({ identity }) => identity)).not.toContain(simple);
  }, 60_000);

  it('below their quorum leave an event CONFIRMED, whatever the others do wrong', async () => {
    witnesses[1]!.misbehaviour = 'lies';
    witnesses[2]!.misbehaviour = 'yesterday';
    const log = await start(2);
    const identity = await event();
    await reaches(identity, 'CONFIRMED');
    await vi.waitFor(() => expect(witnesses[0]!.submissions.length).toBeGreaterThan(3), PATIENCE);
    expect(await statusOf(identity)).toBe('CONFIRMED');
    witnesses[1]!.misbehaviour = 'wrong key';
    witnesses[2]!.misbehaviour = 'refuses';
    const asked = witnesses[0]!.submissions.length;
    await vi.waitFor(() => expect(witnesses[0]!.submissions.length).toBeGreaterThan(asked + 1), PATIENCE);
    expect(await statusOf(identity)).toBe('CONFIRMED');
    // A lying and a silent one do no harm once two others keep their word.
    witnesses[1]!.misbehaviour = 'none';
    witnesses[2]!.misbehaviour = 'silent';
    await reaches(identity, 'UNEQUIVOCAL');
    expect((await cosigned(log)).by).toBe(2);
  }, 90_000);

  it('that hang do not delay a quorum, are counted, and cosign later', async () => {
    const slow = witnesses[2]!;
    const log = await start(2);
    let answer = (): void => undefined;
    slow.slowness = new Promise((resolve) => {
      answer = resolve;
    });
    const from = Date.now();
    for (let events = 0; events < 3; events += 1) await reaches(await event(), 'UNEQUIVOCAL');
    // If a round waited for all witnesses, each event would take five seconds: the time limit of a request.
    expect(Date.now() - from).toBeLessThan(15_000);
    expect((await cosigned(log)).by).toBe(2);
    const metrics = new TextDecoder().decode((await running!.anonymous.get('/metrics')).bytes);
    expect(metrics).toMatch(/^archivist_witness_failures_total\{witness="w3.example"\} [1-9]/m);
    answer();
    await vi.waitFor(async () => expect((await cosigned(log)).by).toBe(3), PATIENCE);
  }, 90_000);

  it('that are stale are proven the way from what they know', async () => {
    await start(3);
    await reaches(await event(), 'UNEQUIVOCAL');
    const stale = { ...witnesses[2]!.state };
    await reaches(await event(), 'UNEQUIVOCAL');
    witnesses[2]!.state = stale;
    await reaches(await event(), 'UNEQUIVOCAL');
    expect(witnesses[2]!.state.size).toBe(witnesses[0]!.state.size);
    const proofs = witnesses[2]!.submissions.filter((body) => body.startsWith(`old ${stale.size}\n`));
    expect(proofs.length).toBeGreaterThan(0);
  }, 90_000);

  it('that have seen a larger log than ours do not cosign a smaller one', async () => {
    await start(3);
    witnesses[0]!.state = { size: 1_000_000n, root: new Uint8Array(32) };
    const identity = await event();
    await reaches(identity, 'CONFIRMED');
    await vi.waitFor(() => expect(witnesses[0]!.submissions.length).toBeGreaterThan(2), PATIENCE);
    expect(await statusOf(identity)).toBe('CONFIRMED');
  }, 60_000);
});

describe('a witnessed log whose note key was stolen', () => {
  it('shows nothing older than before once a witness knows its new key, however slow that one is', async () => {
    const [witness, ...others] = witnesses as [TestWitness, ...TestWitness[]];
    for (const other of others) other.misbehaviour = 'refuses';
    const log = await start(1);
    const grow = () => sendCose(running!.url, running!.owner, '/entries', sampleStatement(sampleIssuer()));
    await grow();
    await vi.waitFor(async () => expect((await cosigned(log)).by).toBe(1), PATIENCE);
    await rotateDeploymentKey(running!.service.parts.keys, 'note', true);
    await grow();
    await vi.waitFor(async () => expect((await cosigned(log)).by).toBe(0), PATIENCE);
    let answer = (): void => undefined;
    witness.slowness = new Promise((resolve) => {
      answer = resolve;
    });
    witness.submissions.length = 0;
    const { bytes } = await running!.anonymous.get(`${new URL(log.url).pathname}/vkey`);
    witness.knownLogs.push(new TextDecoder().decode(bytes).trim());
    const { origin, size: before } = (await cosigned(log)).checkpoint;
    const ofLog = expect.stringContaining(`\n${origin}\n`);
    await vi.waitFor(() => expect(witness.submissions).toContainEqual(ofLog), PATIENCE);
    await grow();
    const sizes: bigint[] = [];
    const look = async () => {
      const { checkpoint, by } = await cosigned(log);
      sizes.push(checkpoint.size);
      return { by, size: checkpoint.size };
    };
    await vi.waitFor(async () => expect((await look()).size).toBeGreaterThan(before), PATIENCE);
    answer();
    await vi.waitFor(async () => expect((await look()).by).toBe(1), { timeout: 40_000, interval: 20 });
    expect(sizes).toEqual(sizes.toSorted((one, other) => Number(one - other)));
  }, 90_000);
});

describe('the seals that are registered for witnesses', () => {
  it('each have a row, and the audit finds any that is gone: the oldest, one between, the newest', async () => {
    await start(witnesses.length);
    for (let events = 0; events < SEALS; events += 1) await reaches(await event(), 'UNEQUIVOCAL');
    // A running service would register the newest one again.
    await running!.service.close();
    const database = await openDatabase(parseConfig(running!.environment), pino({ level: 'silent' }));
    const audit = () => faultsOfAudit(running!, witnesses, database);
    try {
      const [log] = await asSuperuser<{ entries: string[] }>(
        database,
        `SELECT array_agg(entry_id::text ORDER BY leaves) AS entries FROM archivist.registered_seal
          GROUP BY tenant_id, log_id HAVING count(*) >= ${SEALS} LIMIT 1`,
      );
      const entries = log!.entries;
      await asSuperuser(database, 'CREATE TABLE public.kept AS SELECT * FROM archivist.registered_seal');
      for (const entry of [entries[0]!, entries[1]!, entries.at(-1)!]) {
        await asSuperuser(database, `DELETE FROM archivist.registered_seal WHERE entry_id = '${entry}'`);
        expect(await audit()).toContainEqual(expect.stringContaining(entry));
        await asSuperuser(
          database,
          `INSERT INTO archivist.registered_seal SELECT * FROM public.kept WHERE entry_id = '${entry}'`,
        );
      }
      expect(await audit()).toEqual([]);
    } finally {
      await database.close();
    }
  }, 90_000);
});

describe('without witnesses', () => {
  it('an event stays CONFIRMED and no seal is registered', async () => {
    running = await startTestService();
    const identity = await event();
    await reaches(identity, 'CONFIRMED');
    const { logs } = (await running.anonymous.get('/verifiabledata/tlog')).json as {
      logs: { kind: string; url: string }[];
    };
    const { url } = logs.find(({ kind }) => kind === 'public')!;
    const text = new TextDecoder().decode((await running.anonymous.get(`${new URL(url).pathname}/checkpoint`)).bytes);
    expect(decodeCheckpoint(text).size).toBe(0n);
  });
});
