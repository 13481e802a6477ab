import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait for minutes, for processes that die and start again; none of them should be the last alone. */
const SLOW = [
  'faults/failpoints',
  'faults/kill',
  'faults/anchor-kill',
  'faults/registrations',
  'plugins/thousand-vcons',
  'plugins/queue-command',
  'service/roles',
  'cli/plugin',
  'faults/',
  'service/',
  'plugins/',
  'api/witnesses',
  'api/chain',
  'ledger/',
];

/** Begins with what takes long, where vitest has no times of an earlier run. */
export default class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = SLOW.findIndex((each) => moduleId.includes(`/test/${each}`));
      return found < 0 ? SLOW.length : found;
    };
    return (await super.sort(files)).sort((left, right) => place(left) - place(right));
  }
}
