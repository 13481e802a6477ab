import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/platform/logger.js';
import { processorMs } from '../support/processor-time.js';

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

  it('has no argument of a failed command of Redis, also not of an error within an error', () => {
    const failed = (message: string) =>
      Object.assign(new Error(message), { command: { name: 'hello', args: ['3', 'AUTH', 'default', 's3cret'] } });
    const aborted = Object.assign(failed('EXECABORT'), { previousErrors: [failed('OOM')] });
    const both = new AggregateError([failed('WRONGPASS'), aborted], 'two');
    const lines = logged((log) => {
      for (const err of [failed('WRONGPASS'), aborted, both, new Error('outer', { cause: aborted })])
        log.warn({ err }, `${err.message} of Redis`);
    });
    expect(lines).not.toContain('s3cret');
    expect(lines.match(/"name":"hello"/g)!.length).toBeGreaterThanOrEqual(4);
    expect(lines).toContain('WRONGPASS');
    expect(lines).toContain('"stack"');
  });

  it('has one line a minute for one error, and every line that a caller was given the number of', () => {
    const full = (file: string) => Object.assign(new Error(`could not extend ${file}`), { code: '53100' });
    const lines = logged((log) => {
      for (const file of ['a', 'b', 'c']) log.warn({ err: full(file), queue: file }, 'a worker of the queue failed');
      log.warn({ err: full('a') }, 'a round failed');
      for (const incident of [1, 2]) log.error({ err: full('a'), incident }, 'a request failed');
      for (const reason of [1, 2]) log.warn({ reason }, 'an operation was refused, and is not recorded');
      for (const logId of ['x', 'y', 'x']) log.error({ err: new Error('no key'), logId }, 'a round failed');
    });
    const counts = new Map<string, number>();
    for (const line of lines.split('\n').filter(Boolean)) {
      const { msg } = JSON.parse(line) as { msg: string };
      counts.set(msg, (counts.get(msg) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({
      'a worker of the queue failed': 1,
      'a round failed': 3,
      'a request failed': 2,
      'an operation was refused, and is not recorded': 2,
    });
  });

  it.each([
    ['a bearer token', 'Authorization: Bearer abc.def-ghi', 'abc.def'],
    ['a JWT', 'token eyJhbGciOi.eyJzdWIi.c2ln', 'eyJ'],
    ['a bearer token on a line of its own', 'Authorization:\nBearer abc.def-ghi', 'abc.def'],
    ['a JWT after a tab', '\teyJhbGciOi.eyJzdWIi.c2ln', 'eyJ'],
    ['a telephone number in a query', 'GET /assets?attributes.caller=%2B15550100199', '0199'],
    ['a telephone URI in a query', 'GET /assets?attributes.caller=tel%3a15550100199', '0199'],
    ['an e-mail address in a query', 'GET /assets?attributes.agent=alice%40acme.example', 'alice'],
    ['a telephone URI', 'party tel:+49-30-1234567', '1234567'],
    ['a telephone number', 'called +1 (555) 010-0199 twice', '0199'],
    ['the password of a URL', 'connect postgres://user:hunter2@host/db', 'hunter2'],
    ['an e-mail address', "550 5.1.1 <o'brien+x@acme.example>: user unknown", 'brien'],
    ['an e-mail address on a line of its own', 'rejected:\nzoë@bücher.example\n', 'zoë'],
    ['an e-mail address in quotes', 'user "alice@localhost" has no role', 'alice'],
    ['the address of an e-mail link', 'mailto:alice@acme.example', 'alice'],
  ])('has not %s in a text, nor in an error', (_name, text, secret) => {
    const lines = logged((log) => {
      log.warn(text);
      log.error({ err: new Error(text) }, 'failed');
    });
    expect(lines.split('\n').filter(Boolean)).toHaveLength(2);
    expect(lines).not.toContain(secret);
  });

  it.each([
    ['"a@b"', '"[e-mail]"'],
    ['line\na@b', 'line\n[e-mail]'],
    ['C:\\na@b', 'C:\\[e-mail]'],
    ['C:\\\na@b', 'C:\\\n[e-mail]'],
    ['\u0001a@b', '\u0001[e-mail]'],
    ['/app/node_modules/@redis/client/index.js:7:3', '/app/node_modules/@redis/client/index.js:7:3'],
  ])('is JSON without an address for %j, and keeps the rest', (text, kept) => {
    expect(JSON.parse(logged((log) => log.info(text)))).toMatchObject({ msg: kept });
  });

  it('is taken member by member: a port in one and an @ in another are no password', () => {
    const actor = { issuer: 'https://idp.example:8443', subject: 'mallory' };
    const line = logged((log) => log.info({ actor, claims: ['b@c.example'] }, 'done'));
    expect(JSON.parse(line)).toMatchObject({ actor, claims: ['[e-mail]'] });
  });

  it('is written as fast whatever a long text has in it', () => {
    for (const piece of ['x', 'x@', 'x%40', '%', 'eyJ', '-eyJ', 'bearer ', '+1', '\n', '\\', '\nx', '@', '/@a', '"']) {
      const began = processorMs();
      logged((log) => log.info(`${piece.repeat(500_000)} a@b`));
      expect([piece, processorMs() - began < 2_000]).toEqual([piece, true]);
    }
  });

  it('keeps times, ids and counts', () => {
    const line = logged((log) => log.info({ tenantId: '0190a8c0-0000-7000-8000-000000000001', n: 1234567890 }, 'done'));
    expect(JSON.parse(line)).toMatchObject({ tenantId: '0190a8c0-0000-7000-8000-000000000001', n: 1234567890 });
  });
});
