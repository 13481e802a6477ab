import { setTimeout as sleep } from 'node:timers/promises';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { verifiedCosigners } from '../../src/core/tlog/cosignature.js';
import { decodeNote } from '../../src/core/tlog/signed-note.js';
import { parseConfig } from '../../src/service/config/config.js';
import { startService } from '../../src/start-service.js';
import { recordWitnessedEvent } from '../cli/witnessed-event.js';
import { startTestService, type TestService } from './test-service.js';
import { startTestWitness, type TestWitness } from './test-witness.js';

const PATIENCE = { timeout: 60_000, interval: 200 };
/** More than the six rounds after which a witness that is missing is asked again. */
const IDLE_MS = 7_500;

let first: TestWitness;
let added: TestWitness;
let running: TestService;
let again: Awaited<ReturnType<typeof startService>> | undefined;
let logs: readonly { readonly kind: string; readonly url: string; readonly vkey: string }[];

beforeAll(async () => {
  [first, added] = await Promise.all([startTestWitness('w1.example'), startTestWitness('w2.example')]);
  running = await startTestService({ WITNESSES: first.address, WITNESS_SECONDS: '1' });
  const { json } = await running.anonymous.get('/verifiabledata/tlog');
  logs = (json['logs'] as (typeof logs)[number][]).filter(({ kind }) => kind !== 'private');
  first.knownLogs.push(...logs.map(({ vkey }) => vkey));
  await recordWitnessedEvent(running);
  await vi.waitFor(
    async () => expect((await shown()).map(({ by }) => by)).toEqual([['w1.example'], ['w1.example']]),
    PATIENCE,
  );
}, 240_000);
afterAll(async () => {
  await again?.close();
  await running?.close();
  await Promise.all([first?.close(), added?.close()]);
});

/** The published checkpoints of the public statement log and of the keys log, and who has cosigned them. */
function shown() {
  return Promise.all(
    logs.map(async ({ url }) => {
      const { bytes } = await running.anonymous.get(`${new URL(url).pathname}/checkpoint`);
      const note = decodeNote(new TextDecoder().decode(bytes));
      const by = await verifiedCosigners(note, [first.key, added.key]);
      return { size: decodeCheckpoint(note.text).size, by };
    }),
  );
}

async function checkpointInBundle(): Promise<string> {
  const { json } = await running.owner.get('/archivist/v2/assets/-/events?confirmation_status=UNEQUIVOCAL');
  const [newest] = json['events'] as { identity: string }[];
  const { bytes } = await running.owner.get(`/archivist/v2/${newest!.identity}/evidence`);
  return new TextDecoder().decode(unzipSync(bytes)['witness/seal.tlog-proof']);
}

describe('a witness that is added', { timeout: 120_000 }, () => {
  it('cosigns what the others have cosigned, and no witness is asked again for what it has cosigned', async () => {
    const before = await shown();
    expect(await checkpointInBundle()).not.toContain('— w2.example ');
    await running.service.close();
    first.submissions.length = 0;
    const witnesses = `${first.address}, ${added.address}`;
    again = await startService(parseConfig({ ...running.environment, WITNESSES: witnesses }));
    // Its operator has not told it of the logs yet.
    await vi.waitFor(() => expect(added.submissions.length).toBeGreaterThan(0), PATIENCE);
    added.knownLogs.push(...logs.map(({ vkey }) => vkey));
    const both = before.map(({ size }) => ({ size, by: ['w1.example', 'w2.example'] }));
    await vi.waitFor(async () => expect(await shown()).toEqual(both), PATIENCE);
    expect(await checkpointInBundle()).toMatch(/^— w1\.example .*\n— w2\.example /m);
    const asked = added.submissions.length;
    await sleep(IDLE_MS);
    expect([first.submissions.length, added.submissions.length]).toEqual([0, asked]);
  });
});
