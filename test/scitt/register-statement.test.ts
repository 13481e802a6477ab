import { expect, it } from 'vitest';
import { registerStatement, type ScittDeps } from '../../src/scitt/register-statement.js';
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

it('a statement is announced until it is submitted or refused', async () => {
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
      return () => {
        announced -= 1;
      };
    },
    async accept() {
      atSubmission.push(announced);
      return { assetId: 'asset', eventId: 'event' };
    },
  } as unknown as ScittDeps;
  const register = (submitted: Uint8Array) => registerStatement(deps, principal, { submitted, public: true });
  const registering = register(sampleStatement(sampleIssuer()));
  expect(announced).toBe(1);
  await registering;
  await expect(register(Uint8Array.of(1))).rejects.toThrow('not a signed statement');
  expect([atSubmission, announced]).toEqual([[1], 0]);
});
