import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/platform/logger.js';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger('info', { destination: { write: (line) => lines.push(line) } }));
  return lines.join('');
}

describe('the log', () => {
  it('has no secret in a member, however deep', () => {
    const line = logged((log) =>
      log.info({ client_secret: 's3cret', request: { authorization: 's3cret' }, a: { b: { access_token: 's3cret' } } }),
    );
    expect(line).toContain('[secret]');
    expect(line).not.toContain('s3cret');
  });

  it.each([
    ['a bearer token', 'Authorization: Bearer abc.def-ghi', 'abc.def'],
    ['a JWT', 'token eyJhbGciOi.eyJzdWIi.c2ln', 'eyJ'],
    ['a telephone URI', 'party tel:+49-30-1234567', '1234567'],
    ['a telephone number', 'called +1 (555) 010-0199 twice', '0199'],
    ['the password of a URL', 'connect postgres://user:hunter2@host/db', 'hunter2'],
  ])('has not %s in a text, nor in an error', (_name, text, secret) => {
    const lines = logged((log) => {
      log.warn(text);
      log.error({ err: new Error(text) }, 'failed');
    });
    expect(lines.split('\n').filter(Boolean)).toHaveLength(2);
    expect(lines).not.toContain(secret);
  });

  it('keeps times, ids and counts', () => {
    const line = logged((log) => log.info({ tenantId: '0190a8c0-0000-7000-8000-000000000001', n: 1234567890 }, 'done'));
    expect(JSON.parse(line)).toMatchObject({ tenantId: '0190a8c0-0000-7000-8000-000000000001', n: 1234567890 });
  });
});
