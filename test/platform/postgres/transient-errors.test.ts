import { describe, expect, it } from 'vitest';
import {
  isDatabaseFailing,
  isDatabaseUnavailable,
  isRetried,
} from '../../../src/platform/postgres/transient-errors.js';

const withCode = (code: string) => Object.assign(new Error('of the driver'), { code });

describe('an error of the database', () => {
  it.each([
    ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND'],
    ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
    ...['40001', '40P01', '57P01', '57P02', '57P03', '53300', '08006', '25P03', '57P05'],
  ])('%s passes: the transaction is run again, and then the caller may come again', (code) => {
    expect([isRetried(withCode(code)), isDatabaseUnavailable(withCode(code))]).toEqual([true, true]);
  });

  it.each(['57014', '53200', '55P03'])('%s passes, but is not tried again at once', (code) => {
    expect([isRetried(withCode(code)), isDatabaseUnavailable(withCode(code))]).toEqual([false, true]);
  });

  it('58030 fails a request, and is no outage for an audit: a block that cannot be read may be damaged', () => {
    const error = withCode('58030');
    expect([isRetried(error), isDatabaseUnavailable(error), isDatabaseFailing(error)]).toEqual([false, false, true]);
  });

  it.each(['23505', '42703', 'ENOENT'])('%s does not pass', (code) => {
    expect([isRetried(withCode(code)), isDatabaseUnavailable(withCode(code))]).toEqual([false, false]);
  });
});
