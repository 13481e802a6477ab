import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** What a scanner says of some content. */
export type Verdict =
  | { readonly status: 'clean' }
  | { readonly status: 'bad'; readonly signature: string }
  /** It could not look at all of it. */
  | { readonly status: 'unknown'; readonly reason: string };

export interface Scanner {
  /** Reads content to its end, or destroys it. @throws when the scanner cannot be reached */
  scan(content: Readable): Promise<Verdict>;
}

/** A large file is looked at without a word. */
const SILENT_MS = 600_000;
const LONGEST_REPLY = 4096;

/**
 * A ClamAV daemon, asked by the INSTREAM command of its protocol (clamd(8)): chunks that a 32-bit length precedes, a
 * length of zero at the end, one line in return.
 * @param url `tcp://host:port`, or the path of a socket
 */
export function clamavScanner(url: string): Scanner {
  return {
    async scan(content) {
      const socket = connect(addressOf(url));
      try {
        await connected(socket);
        return await ask(socket, content);
      } finally {
        socket.destroy();
        content.destroy();
      }
    },
  };
}

function addressOf(url: string): { host: string; port: number } | { path: string } {
  if (url.startsWith('/')) return { path: url };
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'unix:') return { path: pathname };
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
}

/** A daemon that has heard enough answers and hangs up while we still speak: its answer counts, not our broken sentence. */
async function ask(socket: Socket, content: Readable): Promise<Verdict> {
  let reply = '';
  const hungUp = new Promise<void>((resolve) => {
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      reply += text;
      if (reply.includes('\0') || reply.length > LONGEST_REPLY) resolve();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.setTimeout(SILENT_MS, () => socket.destroy());
  });
  let unreadable: unknown;
  const sent = pipeline(
    framed(content, (error) => {
      unreadable = error;
    }),
    socket,
    { end: false },
  ).catch(() => undefined);
  await Promise.race([hungUp, sent]);
  if (unreadable !== undefined) throw unreadable;
  await hungUp;
  return verdictOf(reply.split('\0')[0]!.trim());
}

async function* framed(content: Readable, failed: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  yield Buffer.from('zINSTREAM\0');
  try {
    for await (const chunk of content as AsyncIterable<Uint8Array>) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(chunk.length);
      yield length;
      yield chunk;
    }
  } catch (error) {
    failed(error);
    throw error;
  }
  yield Buffer.alloc(4);
}

/** What lies beyond the daemon's limits was not looked at, whatever word it has for that. */
function verdictOf(reply: string): Verdict {
  if (reply === 'stream: OK') return { status: 'clean' };
  const signature = /^stream: (.+) FOUND$/.exec(reply)?.[1];
  if (signature !== undefined && !signature.startsWith('Heuristics.Limits.Exceeded'))
    return { status: 'bad', signature };
  return { status: 'unknown', reason: reply === '' ? 'the scanner hung up' : reply };
}
