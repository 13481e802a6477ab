import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds of the files that take longest, measured on two cores, each beside another. They start first, the longest before
 * all others, so that none of them is the last one and runs beside an idle worker. Other files start by size.
 */
const SECONDS: Readonly<Record<string, number>> = {
  'faults/failpoints': 99,
  'faults/outside.': 84,
  'plugins/thousand-vcons': 75,
  'console/console-page': 74,
  'faults/disk-full-steps': 63,
  'verify-matrix/splice-matrix': 53,
  'soak/short-soak': 48,
  'faults/kill': 47,
  'api/webhooks': 46,
  'faults/anchor-kill': 45,
  'console/operate-pages': 43,
  'faults/two-clocks': 43,
  'cli/backup': 38,
  'service/wrong-clock': 37,
  'api/superuser': 35,
  'faults/registrations': 35,
  'faults/rude-callers': 35,
  'api/witnesses': 34,
  'faults/after-fork': 32,
  'faults/open-fork': 30,
  'docs/snippets': 28,
  'plugins/queue-command': 27,
  'api/audit-columns': 25,
  'api/chain': 25,
  'faults/disk-full': 24,
  'platform/queue/keep-schedule': 23,
  'console/verify-page': 23,
  'core/fuzz/decoders': 22,
  'package/image-tree': 22,
  'package/npm-package': 22,
  'faults/': 20,
  'service/': 15,
  'plugins/': 15,
  'console/': 15,
  'package/': 10,
  'ledger/': 10,
};

/** Begins with what takes long: CI has no times of an earlier run. */
export default class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) =>
      Object.entries(SECONDS).find(([name]) => moduleId.includes(`/test/${name}`))?.[1] ?? 0;
    return (await super.sort(files)).sort((left, right) => seconds(right) - seconds(left));
  }
}
