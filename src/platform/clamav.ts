import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { within } from './time-limit.js';

/** What a scanner found in some content. */
export type Verdict =
  | { readonly status: 'clean' }
  | { readonly status: 'bad'; readonly signature: string }
  /** The scanner could not read all of it. */
  | { readonly status: 'unknown'; readonly reason: string };

export interface Scanner {
  /** Reads the content to its end, or destroys it. @throws when the scanner cannot be reached */
  scan(content: Readable): Promise<Verdict>;
}

const CONNECT_WITHIN_MS = 10_000;
/** While a large file is scanned, the daemon sends nothing. */
const SILENT_MS = 600_000;
const LONGEST_REPLY = 4096;

/**
 * A scanner that uses the INSTREAM command of a ClamAV daemon (clamd(8)): chunks, each preceded by its 32-bit length,
 * then a length of zero; the daemon answers with one line.
 * @param url `tcp://host:port`, or the path of a socket
 * @param silentMs a daemon that neither takes nor sends anything for so long counts as away
 */
export function clamavScanner(url: string, silentMs = SILENT_MS): Scanner {
  return {
    async scan(content) {
      const socket = connect(addressOf(url));
      try {
        await within(CONNECT_WITHIN_MS, connected(socket), 'the scanner cannot be reached in time');
        return await ask(socket, content, silentMs);
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

/**
 * A daemon that has read enough answers and closes the connection while we still write. Its answer counts, not our
 * write error.
 */
async function ask(socket: Socket, content: Readable, silentMs: number): Promise<Verdict> {
  let reply = '';
  const hungUp = new Promise<void>((resolve) => {
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      reply += text;
      if (reply.includes('\0') || reply.length > LONGEST_REPLY) resolve();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.setTimeout(silentMs, () => socket.destroy());
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

/** Content beyond the daemon's limits was not scanned, however the daemon reports that. */
function verdictOf(reply: string): Verdict {
  if (reply === 'stream: OK') return { status: 'clean' };
  const signature = /^stream: (.+) FOUND$/.exec(reply)?.[1];
  if (signature !== undefined && !signature.startsWith('Heuristics.Limits.Exceeded'))
    return { status: 'bad', signature };
  return { status: 'unknown', reason: reply === '' ? 'the scanner closed the connection' : reply };
}
