import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { fromHex, toHex, utf8 } from '../core/bytes.js';
import { sha256 } from '../core/sha256.js';
import type { AuditContext } from '../ledger/audit/audit-context.js';
import type { AuditFrontier } from '../ledger/audit/audit-frontier.js';
import { removeFile, replaceFile } from '../platform/durable-file.js';

const FORMAT = 'vcon-archivist audit state 1';
const MODE = 0o600;
const WRITTEN_EVERY_MS = 2_000;
/** A log with more faults is audited anew by the next run: its verdict is known already. */
const MOST_FAULTS = 1_000;

const number = z.string().regex(/^\d{1,20}$/);
const logSchema = z.strictObject({
  tenantId: z.uuid(),
  logId: z.uuid(),
  sealNumber: number,
  leaves: number,
  size: number,
  peaks: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(64),
  lastIdtimestamp: number,
  faults: z.array(z.string()).max(MOST_FAULTS),
});
const bodySchema = z.strictObject({
  format: z.literal(FORMAT),
  /** What is audited, and the keys that the auditor gave. */
  audit: z.string(),
  startedAt: z.iso.datetime(),
  logs: z.array(logSchema),
});
type LogEntry = z.infer<typeof logSchema>;
type Body = z.infer<typeof bodySchema>;

/** The file that a stopped audit continues from. */
export interface AuditState {
  readonly progressOf: NonNullable<AuditContext['progressOf']>;
  /** When the earlier run began that this one continues; undefined if it began anew. */
  readonly continues: Date | undefined;
  /** Tells the file of a fault, which a later run then reports again. */
  fault(log: string, what: string): void;
  /** Removes the file: the audit has its verdict. */
  finish(): Promise<void>;
}

/** The file cannot be continued from. */
export class UnusableAuditState extends Error {}

/**
 * Opens the file, which need not exist. It is replaced every few seconds while the audit goes on.
 * @param audit names what is audited and with which keys: a file of another audit is refused
 * @throws {UnusableAuditState} if it is damaged, or of another audit
 */
export async function openAuditState(
  path: string,
  audit: string,
  { now, monotonicMs }: { readonly now: () => Date; readonly monotonicMs: () => number },
): Promise<AuditState> {
  const earlier = await readState(path, audit);
  const body = { format: FORMAT, audit, startedAt: earlier?.startedAt ?? now().toISOString() } as const;
  const logs = new Map((earlier?.logs ?? []).map((log) => [log.logId, log]));
  const faults = new Map<string, string[]>();
  let written = monotonicMs();
  return {
    continues: earlier && new Date(earlier.startedAt),
    fault(log, what) {
      const known = faults.get(log) ?? [];
      if (known.length <= MOST_FAULTS) known.push(what);
      faults.set(log, known);
    },
    progressOf: {
      earlier: ({ tenantId, logId }) => {
        const log = logs.get(logId);
        return log?.tenantId === tenantId ? frontierOf(log) : undefined;
      },
      async reached(log, frontier) {
        const found = faults.get(log.name) ?? [];
        if (found.length > MOST_FAULTS) return;
        logs.set(log.logId, entryOf(log, frontier, found));
        if (monotonicMs() - written < WRITTEN_EVERY_MS) return;
        written = monotonicMs();
        await replaceFile(path, encoded({ ...body, logs: [...logs.values()] }), MODE);
      },
    },
    finish: () => removeFile(path),
  };
}

/** The hash finds damage by accident. It is no protection against a person who can write the file. */
function encoded(body: Body): Uint8Array {
  return utf8(`${JSON.stringify({ ...body, sha256: digestOf(body) })}\n`);
}

function digestOf(body: Body): string {
  return toHex(sha256(utf8(JSON.stringify(body))));
}

async function readState(path: string, audit: string): Promise<Body | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new UnusableAuditState(`${path} cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const unusable = (why: string) => new UnusableAuditState(`${path} ${why}: delete it to audit from the start`);
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw unusable('is damaged');
  }
  const { sha256: digest, ...rest } = Object(read) as Record<string, unknown>;
  const { success, data } = bodySchema.safeParse(rest);
  if (!success || digestOf(data) !== digest) throw unusable('is damaged or not the state of an audit');
  if (data.audit !== audit) throw unusable('is of an audit of another deployment, or with other keys');
  return data;
}

function entryOf(
  { tenantId, logId }: { readonly tenantId: string; readonly logId: string },
  { sealNumber, leaves, size, peaks, lastIdtimestamp }: AuditFrontier,
  faults: readonly string[],
): LogEntry {
  return {
    tenantId,
    logId,
    sealNumber: String(sealNumber),
    leaves: String(leaves),
    size: String(size),
    peaks: peaks.map(toHex),
    lastIdtimestamp: String(lastIdtimestamp),
    faults: [...faults],
  };
}

function frontierOf(log: LogEntry): AuditFrontier & { readonly faults: readonly string[] } {
  return {
    sealNumber: BigInt(log.sealNumber),
    leaves: BigInt(log.leaves),
    size: BigInt(log.size),
    peaks: log.peaks.map(fromHex),
    lastIdtimestamp: BigInt(log.lastIdtimestamp),
    faults: log.faults,
  };
}
