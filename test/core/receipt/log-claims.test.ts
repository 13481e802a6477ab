import { describe, expect, it } from 'vitest';
import type { CborValue } from '../../../src/core/cose/cbor.js';
import { CborFloat } from '../../../src/core/cose/cbor-float.js';
import { logClaims, readLogClaims, tenancyLogSubject, tenancyOfLog } from '../../../src/core/receipt/log-claims.js';

const TENANCY = '112758ce-a8cb-4924-8df8-fcba1e31f8b0';
const OTHER = '9f4b1d8a-0000-4000-8000-000000000000';
const named = (subject: string) => logClaims({ issuer: 'https://log.example', subject });

describe('what a log says of itself', () => {
  it('is read at label 15, and at 13 only where there is no 15', () => {
    const [standard, older] = [named('standard'), named('older')] as CborValue[];
    expect(readLogClaims(new Map([[15, standard!]])).subject).toBe('standard');
    expect(readLogClaims(new Map([[13, older!]])).subject).toBe('older');
    expect(readLogClaims(new Map())).toEqual({});
  });

  it('names one log and one key: what 13 and 15 both say has to be equal', () => {
    const both = (at13: CborValue, at15: CborValue) =>
      readLogClaims(
        new Map([
          [13, at13],
          [15, at15],
        ]),
      );
    const whole = named('standard').set(8, new Map([[1, 'a key']]));
    expect(both(named('standard'), whole).subject).toBe('standard');
    expect(both(new Map([[1, 'https://log.example']]), whole).subject).toBe('standard');
    const listed = (...list: CborValue[]) => named('standard').set(8, list);
    expect(both(listed('a key', new CborFloat(0.5)), listed('a key', new CborFloat(0.5))).subject).toBe('standard');
    for (const other of [
      listed('a key'),
      listed(new CborFloat(0.5), 'a key'),
      listed('a key', new CborFloat(0.25)),
      listed('a key', 0.5),
    ])
      expect(() => both(other, listed('a key', new CborFloat(0.5)))).toThrow('contradict each other');
    for (const other of [
      named('other'),
      logClaims({ issuer: 'https://other.example', subject: 'standard' }),
      named('standard').set(8, new Map([[1, 'another key']])),
      named('standard').set(8, 'a key'),
      named('standard').set(
        8,
        new Map([
          [1, 'a key'],
          [3, 'its name'],
        ]),
      ),
    ])
      for (const pair of [
        [other, whole],
        [whole, other],
      ] as const)
        expect(() => both(...pair)).toThrow('contradict each other');
  });

  it('names a tenancy by the one uuid in its subject, and none when there are two', () => {
    expect(tenancyOfLog({ subject: tenancyLogSubject(TENANCY) })).toBe(TENANCY);
    expect(tenancyOfLog({ subject: `v1/mmrs/tenant/${TENANCY}/0/${TENANCY}.log` })).toBe(TENANCY);
    expect(tenancyOfLog({ subject: `tenant/${TENANCY}/tenant/${OTHER}` })).toBeUndefined();
    expect(tenancyOfLog({ subject: 'tenant/nobody' })).toBeUndefined();
    expect(tenancyOfLog({})).toBeUndefined();
  });
});
