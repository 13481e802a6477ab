import { describe, expect, it } from 'vitest';
import { belongingTo, missingObjects } from '../../src/cli/backup/belonging-objects.js';

const LOG = '0192e8f5-0000-7000-8000-000000000001';
const FORKED = '0192e8f5-0000-7000-8000-000000000002';
const MASSIF = `verifiabledata/merklelogs/v1/mmrs/tenant/${LOG}/0`;
const log = {
  log: LOG,
  name: `tenant/${LOG}`,
  structure: 'MMR_SHA256',
  massifLeaves: 4,
  leaves: 9,
  sealNumber: 3,
  publishedNumber: 2,
  publishedLeaves: 8,
};
const fork = { generation: 2, seal_number: '1', leaves: '2', entry_id: LOG };
const state = {
  deployment: 'chain',
  keysLog: 'keys',
  logs: [log, { ...log, log: FORKED, publishedNumber: 2, forks: [fork] }],
  blobs: new Set(['tenancy/blob']),
  blocks: [0, 1, 4, 5],
  lastBlock: 5,
  lastManifest: 2,
};
const NEEDED = [
  `seals/${LOG}/0000000000000001`,
  `seals/${LOG}/0000000000000002`,
  `${MASSIF}/massifs/0000000000000000.log`,
  `${MASSIF}/massifseals/0000000000000000.sth`,
  `${MASSIF}/massifs/0000000000000001.log`,
  `${MASSIF}/massifseals/0000000000000001.sth`,
  `seals/${FORKED}/0000000000000001`,
  `seals/${FORKED}.2/0000000000000002`,
  `forks/${FORKED}/0000000000000002`,
  'blocks/chain/0000000000000000',
  'blocks/chain/0000000000000001',
  'blocks/chain/0000000000000004',
  'key-manifests/keys/0000000000000001',
  'key-manifests/keys/0000000000000002',
  'blobs/tenancy/blob',
];

describe('the objects that a copy needs', () => {
  it('are every published one but the newest block and blocks that a fork skipped, and each is copied', () => {
    expect(missingObjects(state, new Set())).toEqual(NEEDED);
    expect(NEEDED.filter((key) => belongingTo(state)(key) !== 'belongs')).toEqual([]);
  });

  it.each([
    [`forks/${LOG}/0000000000000001`, 'later'],
    [`forks/${FORKED}/0000000000000003`, 'later'],
    [`forks/0192e8f5-0000-7000-8000-000000000003/0000000000000001`, 'not copied'],
    [`seals/${LOG}.1/0000000000000002`, 'later'],
    [`seals/${FORKED}.3/0000000000000002`, 'later'],
    [`seals/${FORKED}.2/0000000000000004`, 'later'],
    [`seals/${FORKED}/0000000000000004`, 'not copied'],
    ['seals/0192e8f5-0000-7000-8000-000000000003/0000000000000001', 'not copied'],
  ])('are not those of another deployment, and what came after the copy is told apart: %s is %s', (key, belongs) => {
    expect(belongingTo(state)(key)).toBe(belongs);
  });

  it.each(NEEDED)('are not all there without %s', (key) => {
    expect(missingObjects(state, new Set(NEEDED.filter((each) => each !== key)))).toEqual([key]);
  });
});
