import type { AuditFigures } from './audit-figures.js';
import type { DiskUse } from './disk-use.js';
import type { EngineName } from './engines.js';
import type { PolicyFigures } from './policy-figures.js';
import type { BulkFigures, QueryFigures } from './query-figures.js';
import type { ReceiptFigures } from './receipt-figures.js';
import { figure, ratio } from './report-figure.js';
import { median, rounded } from './statistics.js';

/** What was measured while a tenancy grew. */
export interface Growth {
  readonly engine: EngineName;
  readonly queries: QueryFigures;
  readonly bulk: BulkFigures;
  /** None where the database can only be reached through the service. */
  readonly policies?: PolicyFigures;
  /** Where the database can be reached beside the service. */
  readonly disk?: DiskUse;
  /** Where the database can be read beside the service. */
  readonly audit?: AuditFigures;
  readonly receipts?: ReceiptFigures;
}

const BULK_GOAL = 0.3;
/** A query of the large tenancy may take so many times as long as the same one of the small tenancy. */
const QUERY_GOAL = 2;
/** A page that policies give may take so many times as long as an Owner's. */
const POLICY_GOAL = 3;

/** Bulk requests beside raw inserts, and each query in the small and in the large tenancy. */
export function growthReport({
  engine,
  queries,
  bulk,
  policies,
  disk,
  audit,
  receipts,
}: Growth): Record<string, unknown> {
  const [small, large] = queries.sizes;
  const compared = queries.queries.map((query) => {
    const value = query.large / query.small;
    return {
      ...query,
      small: rounded(query.small),
      large: rounded(query.large),
      ratio: rounded(value),
      met: value <= QUERY_GOAL,
    };
  });
  return {
    engine,
    bulkToRawInsert:
      bulk.rawRows.length === 0
        ? 'not run: the embedded database can be reached through the service alone'
        : ratio(
            bulk.events,
            bulk.rawRows,
            'durable events in bulk requests ÷ rows of raw batch inserts of 1,024',
            BULK_GOAL,
          ),
    bulkEventsPerSecond: figure(bulk.events, 'events/s'),
    rawRowsPerSecond: figure(bulk.rawRows, 'rows/s'),
    statementsFollowed: figure(
      bulk.followedSeconds,
      's from the last answer to the last transparent statement of a round',
    ),
    pagesByPolicy: policies ? policyReport(policies) : 'not run: needs a database beside the service',
    ...(receipts ? { receipts: receiptReport(receipts) } : {}),
    audit: audit
      ? {
          leavesPerSecond: audit.leavesPerSecond,
          leaves: audit.leaves,
          meaning: 'every log made anew from its events and compared, in a process of its own beside the service',
        }
      : 'not run: reads the database beside the service',
    ...(disk
      ? {
          bytesOnDisk: {
            perLeaf: rounded(disk.perLeaf),
            perStatement: rounded(disk.perStatement),
            perAssetEvent: rounded(disk.perAssetEvent),
            meaning: 'tables and their indexes after the growth; two leaves for an event with a statement',
          },
        }
      : {}),
    queries: {
      unit: `ms, median over HTTP, of a tenancy of ${small} and of ${large} events`,
      goal: `ratio at most ${QUERY_GOAL}`,
      missed: compared.filter(({ met }) => !met).map(({ name }) => name),
      each: compared,
    },
  };
}

function policyReport({ withoutPolicies, byPolicy }: PolicyFigures) {
  const value = median(byPolicy) / median(withoutPolicies);
  return {
    meaning: 'a page that one of 1,000 policies gives, ten of which name the caller ÷ a page of an Owner',
    value: rounded(value),
    goal: POLICY_GOAL,
    met: value <= POLICY_GOAL,
    withoutPolicies: figure(withoutPolicies, 'ms'),
    byPolicy: figure(byPolicy, 'ms'),
  };
}

const PROOF_GOAL = 1.3;

function receiptReport(figures: ReceiptFigures): Record<string, unknown> {
  const [few, many] = figures.leaves;
  const [small, large] = figures.proofMs;
  return {
    toEs256Signs: ratio(
      figures.receiptsPerCpuSecond,
      figures.signsPerCpuSecond,
      `receipts ÷ raw ES256 signs of one core, ${figures.distinctEntries} distinct entries, 1,000 together`,
      1,
    ),
    perCpuSecond: figure(figures.receiptsPerCpuSecond, 'receipts/s of processor time in this process'),
    perSecond: figure(figures.receiptsPerSecond, 'receipts/s by the clock, database included'),
    proofTime: {
      [`${few} leaves`]: rounded(small),
      [`${many} leaves`]: rounded(large),
      ratio: rounded(large / small),
      goal: `at most ${PROOF_GOAL}`,
      met: large / small <= PROOF_GOAL,
      unit: 'ms, median of one receipt by itself',
    },
  };
}
