import { expect, it } from 'vitest';
import { closeAll } from '../../src/platform/close-all.js';

it('closes everything, the last first, after one that fails too, and reports the first failure', async () => {
  const closed: string[] = [];
  const closers = ['database', 'queue', 'ledger', 'listener'].map((name) => async () => {
    closed.push(name);
    if (name === 'queue' || name === 'ledger') throw new Error(`${name} does not close`);
  });
  await expect(closeAll(closers)).rejects.toThrow('ledger does not close');
  expect(closed).toEqual(['listener', 'ledger', 'queue', 'database']);
  // What is closed is not closed again.
  await closeAll(closers);
  expect(closed).toHaveLength(4);
});
