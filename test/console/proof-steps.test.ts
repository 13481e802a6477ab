import { expect, it } from 'vitest';
import { stepsOf } from '../../src/console/proof-steps.js';

const WITNESSED = {
  type: 'witness',
  origin: 'archivist.example/log',
  tree_size: '9',
  leaf_index: '4',
  witnesses: ['first.example', 'second.example'],
} as const;

it('shows what a document was compared with: the piece and the member that has its digest', () => {
  const by = [{ type: 'digest', of: 'statement.cose', member: 'payload_hash' }] as const;
  expect(stepsOf({ kind: 'document', piece: 'call.json', facts: { payload_hash: 'ab' }, by })).toEqual([
    { title: 'This record', values: expect.arrayContaining([['File', 'call.json']]) },
    {
      title: 'has the hash that the record names',
      values: [
        ['File', 'statement.cose'],
        ['Member', 'payload_hash'],
      ],
    },
  ]);
});

it('shows who witnessed a log, and the entry and the size of what they saw, after all that the log itself signed', () => {
  const key = { thumbprint: 'cd' };
  const by = [WITNESSED, { type: 'signature', issuer: 'did:web:archivist.example', issuer_pinned: true, key }] as const;
  const steps = stepsOf({ kind: 'witnessed', piece: 'checkpoint', facts: {}, by });
  expect(steps.map(({ title }) => title)).toEqual([
    'This record',
    'signed by did:web:archivist.example',
    'witnessed by first.example, second.example',
  ]);
  expect(steps.at(-1)!.values).toEqual([
    ['Origin', 'archivist.example/log'],
    ['Entry', '4'],
    ['Size', '9'],
  ]);
});
