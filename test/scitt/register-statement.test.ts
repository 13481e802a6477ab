import { expect, it } from 'vitest';
import { registerStatement, type ScittDeps } from '../../src/scitt/register-statement.js';
import type { RegistrationTurn } from '../../src/scitt/registration-turns.js';
import { sampleIssuer, sampleStatement } from './sample-statement.js';

const principal = {
  tenantId: '00000000-0000-4000-8000-000000000001',
  issuer: 'i',
  subject: 's',
  displayName: 'n',
  email: '',
  roles: [],
  claims: {},
};

/** What registers, the announcements that stand, and how many stood at each submission. */
function registering() {
  let announced = 0;
  const atSubmission: number[] = [];
  const deps = {
    clock: { now: () => Date.now() },
    reservedIssuers: [],
    rules: {
      rulesFor: async () => ({
        policy: { text: '{}', digest: new Uint8Array(32) },
        issuerKeys: [],
        authorities: [],
        selfAsserted: true,
      }),
    },
    expect() {
      announced += 1;
      let isOver = false;
      return () => {
        if (!isOver) announced -= 1;
        isOver = true;
      };
    },
    async accept() {
      atSubmission.push(announced);
      return { assetId: 'asset', eventId: 'event' };
    },
  } as unknown as ScittDeps;
  const register = (submitted: Uint8Array, turn?: RegistrationTurn) =>
    registerStatement(deps, principal, { submitted, public: true, turn });
  return { register, announced: () => announced, atSubmission };
}

it('a statement is announced until it is submitted or refused', async () => {
  const { register, announced, atSubmission } = registering();
  const registered = register(sampleStatement(sampleIssuer()));
  expect(announced()).toBe(1);
  await registered;
  await expect(register(Uint8Array.of(1))).rejects.toThrow('not a signed statement');
  expect([atSubmission, announced()]).toEqual([[1], 0]);
});

it('a statement that is held until others have their receipts is not announced, so that nobody waits for it', async () => {
  const { register, announced, atSubmission } = registering();
  let goOn: () => void = () => {};
  let isHeld = false;
  const come = () => {
    isHeld = true;
    return new Promise<void>((resolve) => {
      goOn = resolve;
    });
  };
  const registered = register(sampleStatement(sampleIssuer()), { come, end: () => {} });
  await expect.poll(() => isHeld).toBe(true);
  expect([atSubmission, announced()]).toEqual([[], 0]);
  goOn();
  await registered;
  expect(atSubmission).toEqual([0]);
});
