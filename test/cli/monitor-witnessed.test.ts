import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { startTestWitness, type TestWitness } from '../api/test-witness.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { commandLine } from '../support/command-line.js';
import { type Answer, publishedTenancyLog } from './sample-published-logs.js';
import { recordWitnessedEvent } from './witnessed-event.js';

const LONG = 120_000;
const FILES = '/verifiabledata/merklelogs/';
let witness: TestWitness;
let running: TestService;
let tenancy: string;
let folder: string;
let between: Server;
let url: string;
/** The files of the tenancy log that the server between shows instead of the service's. */
let shown: Answer | undefined;
/** Part of the paths for which it answers that there is nothing. */
let withheld: string | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'monitor-witnessed-'));
  witness = await startTestWitness('w1.example');
  running = await startTestService({ WITNESSES: witness.address, WITNESS_SECONDS: '1' });
  const { json } = await running.anonymous.get('/verifiabledata/tlog');
  const log = (json['logs'] as { kind: string; vkey: string }[]).find(({ kind }) => kind === 'public')!;
  witness.knownLogs.push(log.vkey);
  between = createServer(async (request, response) => {
    const path = request.url!;
    if (shown && path.startsWith(`${FILES}v1/mmrs/tenant/${tenancy}/`)) {
      const body = await shown(path);
      return void (body ? response.end(body) : response.writeHead(404).end());
    }
    if (withheld !== undefined && path.includes(withheld)) return void response.writeHead(404).end();
    const answer = await running.anonymous.get(path);
    response.writeHead(answer.status).end(answer.bytes);
  });
  await new Promise<void>((listening) => between.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  for (let events = 0; events < 3; events += 1) tenancy = await recordWitnessedEvent(running);
}, LONG);
afterAll(async () => {
  await new Promise((closed) => between?.close(closed));
  await running?.close();
  await witness?.close();
  await rm(folder, { recursive: true, force: true });
});

const monitor = (state: string) =>
  commandLine(['monitor', url, '--once', '--root', running.service.rootFingerprint, '--state', join(folder, state)]);

/** A second history of the tenancy log, which the same deployment has sealed. */
function secondHistory(leaves: number): Answer {
  const signer = running.service.parts.keyring.signer('seal');
  return publishedTenancyLog(sampleSealedLog({ leaves, tenancy, signer, issuer: url }), leaves);
}

describe('monitor of a service whose logs witnesses cosign', { timeout: LONG }, () => {
  it('compares the tenancy log with each of its seals that is registered in the public statement log', async () => {
    const { out, err, exitCode } = await monitor('true');
    expect([err, exitCode]).toEqual(['', 0]);
    expect(out).toMatch(new RegExp(`tenant/${tenancy}: .*; agrees with \\d+ registered seals$`, 'm'));
    tenancy = await recordWitnessedEvent(running);
    expect((await monitor('true')).out).toMatch(/agrees with \d+ registered seal/);
  });

  it('raises an alarm if one reader is shown a second history of the tenancy log', async () => {
    shown = secondHistory(16);
    const { err, exitCode } = await monitor('second');
    shown = undefined;
    expect([exitCode, err]).toEqual([1, expect.stringMatching(`ALARM tenant/${tenancy}: .*consistency_invalid`)]);
    expect((await monitor('second')).exitCode).toBe(0);
  });

  it('raises an alarm if the tenancy log stays smaller than the registered seals', async () => {
    shown = () => undefined;
    // At first the log may only be late.
    const first = await monitor('small');
    expect([first.exitCode, first.err]).toEqual([2, expect.stringContaining('it has not reached the seal over')]);
    const before = new Date(Date.now() - 660_000);
    await utimes(join(folder, 'small/tenant', tenancy, 'awaited.sth'), before, before);
    const { err, exitCode } = await monitor('small');
    shown = undefined;
    expect([exitCode, err]).toEqual([1, expect.stringContaining('for more than ten minutes [consistency_invalid]')]);
  });

  it('does not pass over public entries that are withheld from it', async () => {
    withheld = '/tile/entries/';
    const { err, exitCode } = await monitor('withheld');
    withheld = undefined;
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/tile\/entries\/\S+ does not exist/)]);
  });
});
