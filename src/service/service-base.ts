import type { ChainWatch } from '../archivist/chain/watch-chain.js';
import type { Quotas } from '../iam/tenancies/quotas.js';
import type { Backlog } from '../ledger/backlog.js';
import type { ComingStatements } from '../ledger/coming-statements.js';
import type { HaltedLogs } from '../ledger/halted/watch-halted-logs.js';
import type { LogRef } from '../ledger/log.js';
import type { Ledger } from '../ledger/round.js';
import type { Clock } from '../platform/clock.js';
import type { Announcements } from '../platform/postgres/announcements.js';
import { createPageTokens, type PageTokens } from '../platform/postgres/page-token.js';
import type { Base } from './open-base.js';

/** The settings that several features read. A setting that only one feature reads is passed to that feature. */
export interface SharedSettings {
  /** Issuer, audience and base of every URL. */
  readonly publicUrl: string;
  readonly quotas: Quotas;
  /** Where limits are counted for all processes together; undefined: each counts its own. */
  readonly redisUrl: string | undefined;
  /** Of new logs. */
  readonly massifHeight: number;
  /** Whether the addresses that a tenancy names may be in private networks. */
  readonly allowPrivate: boolean;
}

/** What features are opened on. Each declares the part of it that it uses. */
export interface ServiceBase extends Base, SharedSettings {
  /** Fails while the clock is wrong: dates what is recorded. */
  readonly rightClock: Clock;
  readonly pageTokens: PageTokens;
  readonly ledger: Ledger;
  readonly halted: HaltedLogs;
  readonly chain: ChainWatch;
  readonly announcements: Announcements;
  readonly backlog: Backlog;
  /** Reports that entries wait for a log; one unless told. */
  nudge(log: LogRef, entries?: number): void;
  /**
   * Reports statements whose transaction is about to be committed and whose receipts callers wait for. Their log needs no
   * nudge.
   * @returns to be called with whether they were committed
   */
  prepare(log: LogRef, statements: ComingStatements['statements']): (committed: boolean) => void;
  /** Reports that a caller waits for the seal of a log. */
  wanted(log: LogRef): void;
}

export function serviceBase(
  base: Base,
  parts: Pick<ServiceBase, 'ledger' | 'halted' | 'chain' | 'backlog' | 'announcements'>,
  { publicUrl, quotas, redisUrl, massifHeight, allowPrivate }: SharedSettings,
): ServiceBase {
  const { ledger } = parts;
  return {
    ...base,
    ...parts,
    publicUrl,
    quotas,
    redisUrl,
    massifHeight,
    allowPrivate,
    rightClock: base.clockWatch.right,
    pageTokens: createPageTokens(base.keyring.pageTokenKey),
    nudge: ({ tenantId, logId }, entries = 1) => ledger.nudge(tenantId, logId, { entries }),
    prepare(log, statements) {
      let settle: (committed: boolean) => void = () => {};
      const committed = new Promise<boolean>((resolve) => {
        settle = resolve;
      });
      ledger.prepare(log, { statements, committed });
      return settle;
    },
    wanted: ({ tenantId, logId }) => ledger.nudge(tenantId, logId, { urgent: true, entries: 0 }),
  };
}
