import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSendMail } from '../../src/platform/mail.js';
import { freePort } from '../support/free-port.js';

let port: number;
let taken = 0;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
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
const send = (smtpUrl: string) =>
  createSendMail({ smtpUrl, from: 'archivist@example.com', folder: '', ids: unused, logger: unused })({
    to: 'owner@example.com',
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
