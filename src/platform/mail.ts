import { join } from 'node:path';
import type { Transporter } from 'nodemailer';
import { replaceFile } from './durable-file.js';
import type { Ids } from './ids.js';
import type { Logger } from './logger.js';

const WITHIN_MS = 10_000;

interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Hands an e-mail over to the server. @throws when the server does not accept it */
export type SendMail = (mail: Mail) => Promise<void>;

/**
 * Sends through the SMTP server at `smtpUrl`. Without one, writes each e-mail to the folder as an `.eml` file that only
 * the owner of the process can read, and logs its path.
 */
export function createSendMail(deps: {
  readonly smtpUrl: string | undefined;
  readonly from: string;
  readonly folder: string;
  readonly ids: Ids;
  readonly logger: Logger;
}): SendMail {
  const { smtpUrl, from, folder, ids, logger } = deps;
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
    const timeouts = { connectionTimeout: WITHIN_MS, greetingTimeout: WITHIN_MS, socketTimeout: WITHIN_MS };
    let transport: Promise<Transporter> | undefined;
    return async (mail) => {
      transport ??= loadMailer().then((createTransport) => createTransport({ url: smtpUrl, ...timeouts }));
      await (await transport).sendMail(envelope(mail));
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

/** Most processes never send an e-mail, and loading the library would delay every start. */
async function loadMailer() {
  return (await import('nodemailer')).createTransport;
}
