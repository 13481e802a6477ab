/** The words of the page of the statement logs. */
export const LOG_TEXTS = {
  title: 'Statement logs',
  introduction:
    'Every signed statement is an entry of one of these logs. Anybody may read their state and check that they only grow, without an account.',
  kinds: {
    public: 'Public statements',
    private: 'Private statements',
    keys: 'Keys of the service',
  } as Readonly<Record<string, string>>,
  size: 'Size',
  entries: (count: bigint) => (count === 1n ? '1 entry' : `${count} entries`),
  growth: 'Growth',
  firstVisit: 'This browser sees the log for the first time, and keeps its state for the next visit.',
  notKept: 'This browser keeps nothing for the next visit, so this page cannot compare the log with an older state.',
  grown: (count: string) => (count === '1' ? '1 new entry since' : `${count} new entries since`),
  continued: 'The older state is contained in this one: checked here.',
  twoHistories:
    'The log does not contain the state that this browser saw before: it shows two histories. Keep a copy of this page, and ask the operator.',
  witnesses: 'Witnesses',
  noWitnesses: 'No witness has cosigned the newest checkpoint.',
  standings: {
    pinned: 'Cosigned, checked with the key that you know.',
    named:
      'Cosigned, checked with a key that only this service names. Get the key from the witness, and enter it above.',
    refused: 'Refused: what stands under this name is not its cosignature of this checkpoint.',
    unknown: 'Not checked: nobody named the key of this witness.',
    absent: 'You know this witness, and it has not cosigned this checkpoint.',
  },
  pinTitle: 'Which witnesses do you know?',
  pin: 'Keys of witnesses, one on each line',
  pinHelp: 'Such as witness.example+1a2b3c4d+BA… Get them from the witnesses, not from this service.',
  pinned: (count: number) =>
    count === 1 ? 'Each checkpoint is checked with 1 key.' : `Each checkpoint is checked with ${count} keys.`,
  signature: 'Checkpoint',
  signed: 'Signed with the verifier key below, which this service names: compare it with the one that you know.',
  otherLog: 'This checkpoint is of another log: its first line is not this log’s origin.',
  origin: 'Origin',
  root: 'Root',
  vkey: 'Verifier key',
  note: 'The checkpoint as it is signed',
  isPrivate: 'Its entries are shown only to people who may read their events.',
  entry: (size: bigint) => `Entry, from 0 to ${size - 1n}`,
  noEntry: (size: bigint) => `Enter a number from 0 to ${size - 1n}.`,
  show: 'Show',
  kind: 'Kind',
  entryIssuer: 'Names as issuer',
  proven: 'The log holds this entry: its path leads to the root of the checkpoint.',
  notProven:
    'The path of this entry does not lead to the root of the checkpoint. Keep a copy of it, and ask the operator.',
  save: 'Save the entry',
} as const;
