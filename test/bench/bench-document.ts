import { readFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { z } from 'zod';
import { packageVersion } from '../../src/service/package-version.js';
import type { BenchPlan } from './bench-plan.js';
import { type GoalRow, goalRowSchema } from './goal-row.js';
import { rounded } from './statistics.js';

/** Grows when a member is removed or changes its meaning; members that are added do not change it. */
const VERSION = 1;

const machineSchema = z.object({
  cores: z.number(),
  cpu: z.string(),
  memoryGiB: z.number(),
  node: z.string(),
  platform: z.string(),
  loadAverage: z.number(),
});

/** The document of one run. `details` holds all further figures; their form may change between versions. */
const benchDocumentSchema = z.object({
  benchmark: z.literal('vcon-archivist'),
  version: z.literal(VERSION),
  program: z.string(),
  mode: z.enum(['smoke', 'full']),
  startedAt: z.iso.datetime(),
  seconds: z.number(),
  machine: machineSchema,
  goals: z.array(goalRowSchema),
  notRun: z.array(z.string()),
  details: z.record(z.string(), z.unknown()),
});
export type BenchDocument = z.infer<typeof benchDocumentSchema>;

/** Returns the document of a run that began at `startedAt` and ends now. */
export function benchDocument(
  plan: BenchPlan,
  startedAt: Date,
  { goals, notRun, details }: { goals: GoalRow[]; notRun: string[]; details: Record<string, unknown> },
): BenchDocument {
  return {
    benchmark: 'vcon-archivist',
    version: VERSION,
    program: packageVersion(),
    mode: plan.mode,
    startedAt: startedAt.toISOString(),
    seconds: rounded((Date.now() - startedAt.getTime()) / 1000),
    machine: {
      cores: cpus().length,
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      memoryGiB: rounded(totalmem() / 2 ** 30),
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      loadAverage: rounded(loadavg()[0]!),
    },
    goals,
    notRun,
    details,
  };
}

/** @throws {Error} when the file is not a document of this version, naming the first member that is wrong */
export async function readBenchDocument(path: string): Promise<BenchDocument> {
  const read = benchDocumentSchema.safeParse(JSON.parse(await readFile(path, 'utf8')));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(
    `${path} is not a benchmark document of version ${VERSION}: ${issue?.path.join('.')} ${issue?.message}`,
  );
}
