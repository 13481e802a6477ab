import { connect } from 'node:net';
import { ReplyError } from 'ioredis';
import { expect, it } from 'vitest';
import { ApiError } from '../../src/platform/errors.js';
import { failureReason } from '../../src/platform/explain-failure.js';
import { KeyModuleError } from '../../src/platform/keys/pkcs11/key-module-error.js';
import { ObjectStoreFailed } from '../../src/platform/object-store-failed.js';
import { DatabaseUnreachable } from '../../src/platform/postgres/transient-errors.js';
import { PublicFailure, publicReason } from '../../src/platform/public-reason.js';
import { within } from '../../src/platform/time-limit.js';
import { freePort } from '../support/free-port.js';

const SECRET = 'redis://user:a-secret@10.0.0.7:6379';
const withCode = (code: string) => Object.assign(new Error(`refused: ${SECRET}`), { code });
const failed = (work: Promise<unknown>) => work.catch((error: unknown) => error);

it('tells the reason in words and a code, without the address that it has for operators', async () => {
  const port = await freePort();
  const refused = await failed(new Promise((_, reject) => connect({ host: '127.0.0.1', port }).on('error', reject)));
  expect(failureReason(refused)).toContain(`127.0.0.1:${port}`);
  expect(publicReason(refused)).toBe('nothing listens there (ECONNREFUSED)');
  expect(publicReason(new TypeError('fetch failed', { cause: refused }))).toBe('nothing listens there (ECONNREFUSED)');
  expect(publicReason(new AggregateError([refused]))).toBe('nothing listens there (ECONNREFUSED)');
});

it.each([
  [new DatabaseUnreachable(withCode('28P01')), 'the server refuses the password (28P01)'],
  [
    new ObjectStoreFailed('/bucket of 10.0.0.1: no', {}, 'NoSuchBucket'),
    'the server has no such bucket (NoSuchBucket)',
  ],
  [new ObjectStoreFailed('10.0.0.1: no', { cause: withCode('ECONNREFUSED') }), 'nothing listens there (ECONNREFUSED)'],
  [new ReplyError('WRONGPASS invalid username-password pair or user is disabled.'), /^the server refuses the password/],
  [new ReplyError('NOAUTH Authentication required.'), 'the server asks for a password (NOAUTH)'],
  [withCode('ERR_TLS_CERT_ALTNAME_INVALID'), /^the certificate of the server is for other names: /],
  [new Error('Connection is closed.'), 'the connection was closed'],
  [new Error('Connection terminated unexpectedly'), 'the connection was closed'],
  [new Error('Command timed out'), 'no answer in time'],
  [new DOMException('The operation was aborted due to timeout', 'TimeoutError'), 'no answer in time'],
  [new KeyModuleError('login failed', 'CKR_PIN_INCORRECT'), 'the module returns CKR_PIN_INCORRECT'],
  [new PublicFailure('too few witnesses cosigned'), 'too few witnesses cosigned'],
])('tells what a server answers: %s', (error, reason) => {
  expect(publicReason(error)).toMatch(reason);
  expect(publicReason(error)).not.toContain('secret');
});

it('tells a time limit of our own', async () => {
  expect(publicReason(await failed(within(1, new Promise(() => undefined), SECRET)))).toBe('no answer in time');
});

it.each([
  new Error(`no answer from ${SECRET}`),
  new Error('SECRET is a word in capitals'),
  withCode('SECRET'),
  withCode('constructor'),
  new ApiError('unavailable', `the provider of tenancy ${SECRET} fails`),
  SECRET,
  undefined,
])('tells nothing of any other error: %s', (error) => {
  expect(publicReason(error)).toBeUndefined();
});
