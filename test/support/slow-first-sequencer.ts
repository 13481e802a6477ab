import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds of the files that take longest, measured on two cores. They start first, the longest before
 * all others, so that none of them is the last one and runs beside an idle worker. Other files start by size.
 */
const SECONDS: Readonly<Record<string, number>> = {
  'soak/short-soak': 151,
  'faults/failpoints': 101,
  'faults/outside.': 88,
  'console/console-page': 84,
  'plugins/thousand-vcons': 72,
  'faults/disk-full-steps': 62,
  'verify-matrix/splice-matrix': 62,
  'faults/two-clocks': 50,
  'api/superuser': 49,
  'faults/anchor-kill': 48,
  'faults/kill': 48,
  'console/stories': 47,
  'api/webhooks': 46,
  'api/witnesses': 40,
  'console/operate-pages': 38,
  'faults/registrations': 37,
  'cli/backup': 37,
  'faults/rude-callers': 36,
  'faults/restored-copy': 35,
  'faults/open-fork': 34,
  'faults/after-fork': 32,
  'api/audit-columns': 31,
  'archivist/listing/page-cost': 27,
  'plugins/queue-command': 26,
  'api/chain': 26,
  'faults/disk-full.': 24,
  'docs/snippets': 22,
  'package/image-tree': 22,
  'plugins/conserver': 21,
  'plugins/wrong-clock': 21,
  'platform/queue/keep-schedule': 21,
  'console/compliance-page': 21,
  'platform/queue/queue-backend': 21,
  'faults/two-services': 21,
  'archivist/assets/past-states': 20,
  'faults/servers': 20,
  'faults/': 14,
  'service/': 12,
  'plugins/': 12,
  'console/': 12,
  'package/': 10,
  'ledger/': 10,
  'platform/queue/': 10,
};

/** Begins with what takes long: CI has no times of an earlier run. */
export default class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) =>
      Object.entries(SECONDS).find(([name]) => moduleId.includes(`/test/${name}`))?.[1] ?? 0;
    return (await super.sort(files)).sort((left, right) => seconds(right) - seconds(left));
  }
}
