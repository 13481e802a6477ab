import { randomInt, sign } from 'node:crypto';
import { pino } from 'pino';
import { mmrReceipt, mmrReceipts } from '../../src/ledger/receipts.js';
import { nodeSigner } from '../../src/platform/keys/evidence-signer.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { openPostgresql } from '../../src/platform/postgres/open-postgresql.js';
import type { BenchPlan } from './bench-plan.js';
import { processorSeconds } from './processor-seconds.js';
import { percentile } from './statistics.js';
import { createSyntheticLog, type SyntheticLog } from './synthetic-log.js';

/** So many receipts are assembled together. */
const TOGETHER = 1000;

export interface ReceiptFigures {
  readonly leaves: readonly [number, number];
  /** Receipts and raw signatures per second of this process's own processor time, each round. */
  readonly receiptsPerCpuSecond: readonly number[];
  readonly signsPerCpuSecond: readonly number[];
  /** Receipts per second of the clock, the database's work included. */
  readonly receiptsPerSecond: readonly number[];
  readonly distinctEntries: number;
  /** Milliseconds of one receipt by itself, the median, in the small log and in the large one. */
  readonly proofMs: readonly [number, number];
}

type Say = (line: string) => void;

/** Assembles receipts in this process from logs that were never read before, each entry once. */
export async function measureReceipts(databaseUrl: string, plan: BenchPlan, say: Say): Promise<ReceiptFigures> {
  const database = await openPostgresql(databaseUrl, pino({ level: 'silent' }));
  try {
    const { privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
    const [few, many] = plan.logSizes;
    say(`logs of ${few} and ${many} leaves`);
    const logs = [
      await createSyntheticLog(database, few, nodeSigner(privateKey)),
      await createSyntheticLog(database, many, nodeSigner(privateKey)),
    ] as const;
    say('receipts, in this process');
    // The code is to be warm, the entries are not: these are of the other log.
    await assemble(database, logs[0], shuffled(few));
    const message = Buffer.alloc(300, 7);
    const raw = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
    const found = {
      receiptsPerCpuSecond: [] as number[],
      signsPerCpuSecond: [] as number[],
      receiptsPerSecond: [] as number[],
    };
    const order = shuffled(many).slice(0, plan.coldReceipts);
    const size = Math.ceil(order.length / plan.rounds);
    for (let round = 0; round < plan.rounds; round += 1) {
      const entries = order.slice(round * size, (round + 1) * size);
      const begun = performance.now();
      const seconds = await processorSeconds(() => assemble(database, logs[1], entries));
      found.receiptsPerSecond.push(entries.length / ((performance.now() - begun) / 1000));
      found.receiptsPerCpuSecond.push(entries.length / seconds);
      const signs = await processorSeconds(async () => {
        for (let place = 0; place < size; place += 1) sign('sha256', message, raw);
      });
      found.signsPerCpuSecond.push(size / signs);
    }
    return {
      ...found,
      leaves: [few, many],
      distinctEntries: order.length,
      proofMs: await singleReceipts(database, logs, plan.queryRounds * 10),
    };
  } finally {
    await database.close();
  }
}

const NONE_REVOKED = { valid: [], revoked: [] };

async function assemble(database: Database, log: SyntheticLog, leaves: readonly number[]): Promise<void> {
  const scope = { read: [log.tenantId], write: [] };
  for (let first = 0; first < leaves.length; first += TOGETHER) {
    const ids = leaves.slice(first, first + TOGETHER).map((leaf) => log.entryId(leaf));
    const receipts = await database.inTransaction(scope, (tx) => mmrReceipts(tx, log, ids, 'draft', NONE_REVOKED));
    if (receipts.size !== ids.length) throw new Error('a receipt is missing');
  }
}

/** In turns, so that a busy spell of the machine falls on both logs. */
async function singleReceipts(
  database: Database,
  logs: readonly [SyntheticLog, SyntheticLog],
  rounds: number,
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1)
    for (const [place, log] of logs.entries()) {
      const id = log.entryId(randomInt(log.leaves));
      const begun = performance.now();
      await database.inTransaction({ read: [log.tenantId], write: [] }, (tx) =>
        mmrReceipt(tx, log, id, 'draft', NONE_REVOKED),
      );
      times[place]!.push(performance.now() - begun);
    }
  return [percentile(times[0], 0.5), percentile(times[1], 0.5)];
}

function shuffled(count: number): number[] {
  const all = Array.from({ length: count }, (_, place) => place);
  for (let place = count - 1; place > 0; place -= 1) {
    const other = randomInt(place + 1);
    [all[place], all[other]] = [all[other]!, all[place]!];
  }
  return all;
}
