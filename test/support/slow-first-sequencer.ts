import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds of the files that take longest, measured on two busy cores. They start first, the longest before all others, so
 * that none of them is the last one and runs beside an idle worker. Other files start by size.
 */
const SECONDS: Readonly<Record<string, number>> = {
  'faults/failpoints': 360,
  'faults/kill': 95,
  'faults/registrations': 160,
  'faults/anchor-kill': 150,
  'faults/restored-copy': 115,
  'service/wrong-starts': 110,
  'verify-matrix/splice-matrix': 105,
  'docs/snippets': 85,
  'faults/two-services': 80,
  'plugins/thousand-vcons': 75,
  'api/superuser': 70,
  'api/audit-columns': 67,
  'soak/short-soak': 75,
  'faults/disk-full-steps': 60,
  'faults/disk-full': 65,
  'archivist/listing/page-cost': 60,
  'ledger/ledger-fork': 58,
  'console/verify-page': 48,
  'cli/plugin': 46,
  'faults/servers': 42,
  'plugins/queue-command': 41,
  'ledger/ledger-service': 41,
  'api/witnesses': 40,
  'ledger/ledger-round': 40,
  'platform/postgres/open-embedded': 36,
  'package/image-tree': 34,
  'plugins/doctor': 34,
  'package/npm-package': 33,
  'service/roles': 32,
  'console/bundle-page': 30,
  'faults/': 30,
  'service/': 20,
  'plugins/': 20,
  'console/': 20,
  'api/chain': 27,
  'ledger/': 15,
};

/** Begins with what takes long: CI has no times of an earlier run. */
export default class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) =>
      Object.entries(SECONDS).find(([name]) => moduleId.includes(`/test/${name}`))?.[1] ?? 0;
    return (await super.sort(files)).sort((left, right) => seconds(right) - seconds(left));
  }
}
