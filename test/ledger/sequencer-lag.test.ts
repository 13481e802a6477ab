import { describe, expect, it } from 'vitest';
import { uuidTimeMs } from '../../src/ledger/uuid-time.js';

describe('the time in an entry id', () => {
  it('is the unix milliseconds of a UUIDv7', () => {
    // RFC 9562 appendix A.6: Tuesday, February 22, 2022 2:22:22.00 PM GMT-05:00
    expect(uuidTimeMs('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')).toBe(Date.UTC(2022, 1, 22, 19, 22, 22));
  });

  it('is not read from ids of other versions', () => {
    expect(uuidTimeMs('919108f7-52d1-4320-9bac-f847db4148a8')).toBeUndefined();
  });
});
