import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSendMail } from '../../src/platform/mail.js';
import { freePort } from '../support/free-port.js';

let port: number;
let taken = 0;
let refused = 0;
const UNKNOWN = 'nobody@example.com';
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onRcptTo({ address }, _session, done) {
    if (address !== UNKNOWN) return done();
    refused += 1;
    done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }));
  },
  onData(stream, _session, done) {
    taken += 1;
    stream.resume().on('end', done);
  },
});
beforeAll(async () => {
  port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
});
afterAll(() => new Promise<void>((resolve) => server.close(resolve)));

const unused = undefined as never;
const send = (smtpUrl: string, to = 'owner@example.com') =>
  createSendMail({ smtpUrl, from: 'archivist@example.com', folder: '', ids: unused, logger: unused })({
    to,
    subject: 'An invite',
    text: 'a link',
  });

// 0.0.0.0 leads to this machine, but is no name of it.
it('an e-mail goes without TLS to this machine, and to another one only if the URL says so', async () => {
  await send(`smtp://localhost:${port}`);
  await expect(send(`smtp://0.0.0.0:${port}`)).rejects.toThrow('requireTLS=false in SMTP_URL');
  expect(taken).toBe(1);
  await send(`smtp://0.0.0.0:${port}?requireTLS=false`);
  await send(`smtp://0.0.0.0:${port}?ignoreTLS=true`);
  expect(taken).toBe(3);
});

it('an e-mail that the server refused is not sent again', async () => {
  await expect(send(`smtp://localhost:${port}`, UNKNOWN)).rejects.toThrow('no such mailbox');
  expect(refused).toBe(1);
});
