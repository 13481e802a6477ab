import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { replaceFile } from './durable-file.js';
import { isLoopbackName } from './http/loopback.js';
import type { Ids } from './ids.js';
import { keepMade } from './keep-made.js';
import type { Logger } from './logger.js';
import { within } from './time-limit.js';

/** For each step; all of them together have twice as long. */
const WITHIN_MS = 10_000;
const LONGEST_PAUSE_MS = 500;

const WITHOUT_TLS =
  'the mail server does not offer STARTTLS, so nothing was sent: enable it there, use smtps://, or permit e-mail without TLS by ?requireTLS=false in SMTP_URL';

interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Hands an e-mail over to the server, within 20 s. @throws when the server does not accept it */
export type SendMail = (mail: Mail) => Promise<void>;

/**
 * Sends through the SMTP server at `smtpUrl`; to another machine only with TLS, because anybody on the way could hide
 * that the server offers it. `?requireTLS=false` in the URL permits that. Without a server, writes each e-mail to the
 * folder as an `.eml` file that only the owner of the process can read, and logs its path.
 */
export function createSendMail(deps: {
  readonly smtpUrl: string | undefined;
  readonly from: string;
  readonly folder: string;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly stepWithinMs?: number;
}): SendMail {
  const { smtpUrl, from, folder, ids, logger, stepWithinMs: step = WITHIN_MS } = deps;
  // Addresses are passed as structured values, never as a line to be parsed: one cannot smuggle in a second recipient.
  const envelope = ({ to, subject, text }: Mail) => ({
    from,
    to: { name: '', address: to },
    subject: subject.replaceAll(/\p{Cc}/gu, ' '),
    text,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  if (smtpUrl !== undefined) {
    const { hostname, searchParams } = new URL(smtpUrl);
    const requireTLS = !isLoopbackName(hostname) && searchParams.get('ignoreTLS') !== 'true';
    const timeouts = { connectionTimeout: step, greetingTimeout: step, socketTimeout: step };
    const transport = keepMade(async () => (await loadMailer())({ url: smtpUrl, requireTLS, ...timeouts }));
    return async (mail) => {
      const transporter = await transport();
      const send = () => transporter.sendMail(envelope(mail));
      await within(2 * step, unlessConnected(send), 'the mail server did not take the e-mail in time');
    };
  }
  return async (mail) => {
    const createTransport = await loadMailer();
    const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message } = await composer.sendMail(envelope(mail));
    const path = join(folder, `${ids.uuid()}.eml`);
    await replaceFile(path, message as Buffer, 0o600);
    logger.warn({ path }, 'SMTP_URL is not set: an e-mail was written to a file');
  };
}

/** Sends again, once, if there was no connection: then the server cannot have taken the e-mail. */
async function unlessConnected(send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    const { code, command, responseCode } = error as { code?: unknown; command?: unknown; responseCode?: unknown };
    if (code === 'ETLS' && responseCode !== undefined) throw new Error(WITHOUT_TLS, { cause: error });
    if (command !== 'CONN') throw error;
    await pause(Math.random() * LONGEST_PAUSE_MS);
    await send();
  }
}

/** Most processes never send an e-mail, and loading the library would delay every start. */
async function loadMailer() {
  return (await import('nodemailer')).createTransport;
}
