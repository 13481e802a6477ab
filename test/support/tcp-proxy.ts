import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * How the way to a server is. `cut`: connections end at once. `delay`: every answer comes late. `truncate`: connections
 * end in the middle of an answer. `garble`: answers are other bytes. `freeze`: nothing more arrives, in either direction.
 */
export const SPOILED = ['cut', 'delay', 'truncate', 'garble', 'freeze'] as const;
/**
 * `misread`: answers of PostgreSQL end queries that nobody asked, and promise a row that is not there. `lost`: in place of
 * an answer comes what PgBouncer says when its own connection to PostgreSQL has broken.
 */
export type Way = 'well' | (typeof SPOILED)[number] | 'misread' | 'lost';

/** A way to a server, byte for byte, that can be spoiled. */
export interface TcpProxy {
  readonly port: number;
  /** A connection that was garbled or frozen stays so: its end may still wait for the rest of a message. */
  become(way: Way): void;
  close(): Promise<void>;
}

const DELAY_MS = 200;
const MASK = 0xa5;
/** Twice CommandComplete, and a DataRow of 32,767 columns without any. */
const MISREAD = Buffer.from('43000000050043000000050044000000067fff', 'hex');
const LOST_FIELDS = 'SFATAL\0C08P01\0Mserver conn crashed?\0\0';
const LOST = Buffer.from(`E\0\0\0${String.fromCharCode(4 + LOST_FIELDS.length)}${LOST_FIELDS}`, 'latin1');

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  frozen: boolean;
  garbled: boolean;
  /** Answers stay in order, also behind a late one. */
  answered: Promise<void>;
}

export async function startTcpProxy(target: { readonly host?: string; readonly port: number }): Promise<TcpProxy> {
  let way: Way = 'well';
  const pairs = new Set<Pair>();
  const end = (pair: Pair): void => {
    pair.client.destroy();
    pair.server.destroy();
    pairs.delete(pair);
  };

  function answer(pair: Pair, chunk: Buffer): void {
    if (pair.frozen) return;
    if (way === 'truncate') {
      pair.client.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => end(pair));
      return;
    }
    if (way === 'lost') {
      pair.client.write(LOST, () => end(pair));
      return;
    }
    if (way === 'garble') pair.garbled = true;
    const bytes = pair.garbled ? chunk.map((byte) => byte ^ MASK) : way === 'misread' ? MISREAD : chunk;
    const lateMs = way === 'delay' ? DELAY_MS : 0;
    pair.answered = pair.answered.then(async () => {
      if (lateMs > 0) await wait(lateMs);
      if (!pair.client.destroyed) pair.client.write(bytes);
    });
  }

  const proxy = createServer((client) => {
    if (way === 'cut') return void client.destroy();
    const server = connect(target.port, target.host ?? '127.0.0.1');
    const pair: Pair = { client, server, frozen: way === 'freeze', garbled: false, answered: Promise.resolve() };
    pairs.add(pair);
    client.on('data', (chunk) => {
      if (!pair.frozen) server.write(chunk);
    });
    server.on('data', (chunk) => answer(pair, chunk));
    client.on('error', () => end(pair)).on('close', () => end(pair));
    server.on('error', () => end(pair)).on('close', () => void pair.answered.then(() => end(pair)));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    become(next) {
      way = next;
      for (const pair of [...pairs]) {
        if (next === 'cut') end(pair);
        if (next === 'freeze') pair.frozen = true;
      }
    },
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        for (const pair of [...pairs]) end(pair);
      }),
  };
}
