import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { sha256 } from '../../src/core/sha256.js';
import { AuditStopped } from '../../src/ledger/audit/audit-context.js';
import type { AuditedLog } from '../../src/ledger/audit/audit-log.js';
import type { LogState } from '../../src/ledger/log.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import { auditDeployment } from '../../src/service/audit-deployment.js';
import { openAuditState } from '../../src/service/audit-state-file.js';
import { scheduledAudit } from '../../src/service/scheduled-audit.js';
import { startBuilt } from '../support/built-program.js';
import { serverUrl } from '../support/prerequisites.js';
import { startTestService, type TestService } from './test-service.js';

const folder = mkdtempSync(join(tmpdir(), 'resumed-audit-'));
const file = join(folder, 'audit.json');
const WAVES = 4;
let running: TestService;
let events: string;

/** Every call is a second later: the file is written at each seal. */
function seconds() {
  let ms = 0;
  return {
    now: () => new Date(0),
    monotonicMs: () => {
      ms += 10_000;
      return ms;
    },
  };
}

const openState = (audit = 'this audit') => openAuditState(file, audit, seconds());

/** Audits with the file; stops after so many leaves of one log if told. */
async function audit(stopAt = Number.POSITIVE_INFINITY): Promise<{ faults: string[]; logs: AuditedLog[] }> {
  const { database, keyring, deployment } = running.service.parts;
  const state = await openState();
  const faults: string[] = [];
  let seen = 0n;
  const logs = await auditDeployment({
    atOnce: 1,
    database,
    keyring,
    deployment,
    objectStore: fileObjectStore(join(folder, 'objects')),
    verifySignature: nodeVerify,
    witnesses: [],
    quorum: 0,
    progressOf: state.progressOf,
    stopping: () => seen >= stopAt,
    fault(log, what) {
      faults.push(`${log}: ${what}`);
      state.fault(log, what);
    },
    progress(_, leaves) {
      seen = leaves;
    },
  });
  await state.finish();
  return { faults, logs };
}

const stopped = () => audit(WAVES - 1).catch((error: unknown) => error);
const log = (logs: readonly AuditedLog[]) => logs.find(({ leaves }) => leaves >= WAVES)!;

/** Changes the body of the file as a person can who may write it: with the hash that fits. */
async function forge(change: (log: Record<string, unknown>) => void): Promise<void> {
  const { sha256: _, ...body } = JSON.parse(await readFile(file, 'utf8'));
  for (const each of body.logs) change(each);
  await writeFile(file, JSON.stringify({ ...body, sha256: toHex(sha256(Buffer.from(JSON.stringify(body)))) }));
}

const payload = (number: number) => toHex(sha256(Uint8Array.of(number)));
const OTHER = payload(255);

/** An event that its statement no longer matches; the statement log is the first that is audited. */
const changeFirst = (undo = false) =>
  running.asOwner(
    `UPDATE archivist.asset_event SET event_attributes = jsonb_set(event_attributes, '{payload}', '"${undo ? payload(0) : OTHER}"')
      WHERE event_attributes ->> 'note' = 'number 0'`,
  );

/** Records an event, with a seal of its own. */
async function record(number = WAVES): Promise<void> {
  const made = await running.owner.post(events, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {
      note: `number ${number}`,
      payload: payload(number),
      payload_hash_alg: 'SHA-256',
      subject: 'vcon://0192e8f5-0000-7000-8000-000000000001',
    },
  });
  const path = `/archivist/v2/${made.json['identity']}/transparent-statement`;
  await vi.waitFor(async () => expect((await running.owner.get(path)).status).toBe(200), {
    timeout: 60_000,
    interval: 50,
  });
}

beforeAll(async () => {
  running = await startTestService({ OBJECT_STORE_URL: pathToFileURL(join(folder, 'objects')).href });
  const asset = await running.owner.post('/archivist/v2/assets', { attributes: { colour: 'red' } });
  events = `/archivist/v2/${asset.json['identity']}/events`;
  for (let number = 0; number < WAVES; number += 1) await record(number);
}, 120_000);
afterAll(async () => {
  await running?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => rmSync(file, { force: true }));

describe('a stopped audit', { timeout: 60_000 }, () => {
  it('continues where it stopped, and names the leaves that it did not read again', async () => {
    expect(await stopped()).toBeInstanceOf(AuditStopped);
    const { faults, logs } = await audit();
    expect(faults).toEqual([]);
    expect(log(logs).from).toBeGreaterThan(0n);
    await expect(readFile(file)).rejects.toThrow(/ENOENT/);
    expect(log((await audit()).logs).from).toBe(0n);
  });

  it('reports the faults of its first part again', async () => {
    await changeFirst();
    expect(await stopped()).toBeInstanceOf(AuditStopped);
    await changeFirst(true);
    const { faults, logs } = await audit();
    expect(log(logs).from).toBeGreaterThan(0n);
    expect(faults.join()).toMatch(/contradicts the event/);
  });

  it('starts anew where the file has another state than the one that the log signed', async () => {
    await stopped();
    await changeFirst();
    await forge((each) => {
      each['peaks'] = (each['peaks'] as string[]).map(() => '00'.repeat(32));
    });
    const { faults, logs } = await audit();
    await changeFirst(true);
    expect(log(logs).from).toBe(0n);
    expect(faults.join()).toMatch(/contradicts the event/);
  });

  it('starts anew where the last leaf that was read has another time now', async () => {
    await stopped();
    const { logs } = JSON.parse(await readFile(file, 'utf8')) as { logs: { logId: string; leaves: string }[] };
    const { logId, leaves } = logs.at(-1)!;
    const change = () =>
      running.asOwner(
        `UPDATE archivist.leaf SET idtimestamp = set_byte(idtimestamp, 7, get_byte(idtimestamp, 7) # 1)
          WHERE log_id = '${logId}' AND leaf_index = ${BigInt(leaves) - 1n}`,
      );
    await change();
    const found = await audit();
    await change();
    expect(found.logs.find((each) => each.logId === logId)!.from).toBe(0n);
  });

  it('leaves a log with more than a thousand faults as it was in the file, which can be continued from', async () => {
    await stopped();
    const before = await readFile(file, 'utf8');
    const { logId, tenantId } = JSON.parse(before).logs[0] as Record<'logId' | 'tenantId', string>;
    const log = { logId, tenantId, name: 'a log' } as LogState;
    const { fault, progressOf } = await openState();
    for (let number = 0; number <= 1_000; number += 1) fault(log.name, `fault ${number}`);
    await progressOf.reached(log, progressOf.earlier(log)!);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('finds that a log has fewer leaves than the file knows', async () => {
    await stopped();
    await forge((each) => {
      each['leaves'] = '1000000';
    });
    expect((await audit()).faults.join()).toMatch(/an earlier run of this audit saw 1000000 leaves, now there are \d+/);
  });

  it('does not continue from a damaged file, nor from one of another audit', async () => {
    await stopped();
    await expect(openState('another audit')).rejects.toThrow(
      /is of an audit of another deployment, or with other keys: delete it/,
    );
    await writeFile(file, (await readFile(file, 'utf8')).replace('"leaves":"', '"leaves":"1'));
    await expect(openState()).rejects.toThrow(/is damaged or not the state of an audit: delete it/);
    await writeFile(file, '{');
    await expect(openState()).rejects.toThrow(/is damaged: delete it/);
  });

  it('says in its verdict what rests on the file', async () => {
    await stopped();
    const named = JSON.parse(await readFile(file, 'utf8'));
    const { deploymentTenancy } = running.service.parts.deployment;
    const { sha256: _, ...body } = { ...named, audit: `${deploymentTenancy} ` };
    await writeFile(file, JSON.stringify({ ...body, sha256: toHex(sha256(Buffer.from(JSON.stringify(body)))) }));
    if (!serverUrl) return; // the embedded database is open in this process
    const program = startBuilt('cli/vcon-archivist', running.environment, ['audit', '--state', file]);
    expect([await program.ended, program.written.err]).toEqual([0, '']);
    expect(program.written.out).toMatch(/This run did not read:\n {2}\S+: leaves 0 to \d+\n/);
    expect(program.written.out).toMatch(/SOUND, resting on an earlier run for the leaves above\.\s*$/);
  });
});

describe('an audit in several threads', { timeout: 60_000 }, () => {
  it.runIf(serverUrl)('finds what one without threads finds', async () => {
    const report = async (...args: string[]) => {
      const program = startBuilt('cli/vcon-archivist', running.environment, ['audit', '--json', ...args]);
      await program.ended;
      const { leavesPerSecond: _, ...found } = JSON.parse(program.written.out);
      return found;
    };
    await changeFirst();
    const faulty = await report('--threads', '2');
    expect(faulty.sound).toBe(false);
    expect(await report('--threads', '0')).toEqual(faulty);
    await changeFirst(true);
  });
});

describe('the audit by schedule', { timeout: 60_000 }, () => {
  const HOUR_MS = 60 * 60 * 1000;
  const kept = join(folder, 'audit-state.json');
  /** The first leaf of the tenancy's log that this audit reads, by its own entry. */
  async function runs(): Promise<number> {
    const logger = pino({ level: 'silent' });
    await scheduledAudit(
      {
        ...{ ...running.service.parts, logger, objectStore: fileObjectStore(join(folder, 'objects')) },
        settings: { dataDir: folder, keysDir: join(folder, 'no-keys'), witnessing: { witnesses: [], quorum: 0 } },
        metrics: { audited: () => undefined },
        nudge: () => undefined,
      },
      () => false,
    );
    await expect(readFile(kept)).rejects.toThrow('ENOENT');
    const { json } = await running.owner.get('/archivist/v1/security_events?action=log.audit');
    const [last] = json['security_events'] as { attributes: { details: { first_leaf_read: string } } }[];
    return Number(last!.attributes.details.first_leaf_read);
  }
  /** What an audit left at that time that was stopped after so many leaves of the tenancy's log, the longest one. */
  async function left(at: number, leaves: number): Promise<void> {
    await record();
    expect(await audit(leaves).catch((error: unknown) => error)).toBeInstanceOf(AuditStopped);
    const named = running.service.parts.deployment.deploymentTenancy;
    const { sha256: _, ...body } = {
      ...JSON.parse(await readFile(file, 'utf8')),
      audit: named,
      startedAt: new Date(at),
    };
    const sha = toHex(sha256(Buffer.from(JSON.stringify(body))));
    await writeFile(kept, JSON.stringify({ ...body, sha256: sha }));
  }

  it('continues a stopped one for a day, and begins anew after it and at a file that is damaged', async () => {
    await left(Date.now() - 23 * HOUR_MS, WAVES + 2);
    expect(await runs()).toBeGreaterThan(0);
    await left(Date.now() - 25 * HOUR_MS, WAVES + 3);
    expect(await runs()).toBe(0);
    await record();
    await writeFile(kept, '{');
    expect(await runs()).toBe(0);
  });
});
