import { Duplex } from 'node:stream';
import { loopTurn } from '../loop-turn.js';

/** What a server answers to the start of a session that needs no password: AuthenticationOk, ReadyForQuery. */
const WELCOME = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
const TERMINATE = 'X'.charCodeAt(0);
/** Answers are read in pieces, as from a socket. */
const PIECE_BYTES = 64 * 1024;

/**
 * A driver's connection to the embedded engine, in place of a socket. All that the driver has written together goes to the
 * engine in one call, and others are served while a long answer is read.
 * @param execute runs whole queries of the protocol (PostgreSQL 17, section 53.2.3) and resolves with what the engine
 *   answers to them; calls run in their order
 */
export function engineStream(execute: (queries: readonly Uint8Array[]) => Promise<Uint8Array>): Duplex {
  /** Null is the end. */
  const unread: (Buffer | null)[] = [];
  let lastAnswer = Promise.resolve();
  let isReading = false;
  let isWelcome = false;

  async function read(): Promise<void> {
    isReading = true;
    while (unread.length > 0) {
      const piece = unread.shift() as Buffer | null;
      if (!stream.destroyed) stream.push(piece);
      // The engine waits for who reads a short answer.
      const turn = unread.length > 0 ? loopTurn() : undefined;
      if (turn) await turn;
    }
    isReading = false;
  }

  function toRead(...pieces: readonly (Buffer | null)[]): void {
    unread.push(...pieces);
    if (!isReading) void read();
  }

  function write(messages: readonly Uint8Array[]): void {
    // The end of a client is not the end of the session.
    const queries = messages.filter((message) => message[0] !== TERMINATE);
    if (!isWelcome) {
      isWelcome = true;
      toRead(WELCOME);
    } else if (queries.length > 0)
      lastAnswer = execute(queries).then(
        (answer) => toRead(...piecesOf(answer)),
        (error: Error) => void stream.destroy(error),
      );
  }

  const stream = new Duplex({
    read: () => undefined,
    writev(chunks, done) {
      write(chunks.map(({ chunk }) => chunk as Uint8Array));
      done();
    },
    final(done) {
      void lastAnswer.then(() => toRead(null));
      done();
    },
  });
  // What the driver also calls on a socket.
  return Object.assign(stream, {
    connect: () => process.nextTick(() => stream.emit('connect')),
    setNoDelay: () => stream,
    setKeepAlive: () => stream,
    ref: () => stream,
    unref: () => stream,
  });
}

function piecesOf(answer: Uint8Array): Buffer[] {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length);
  const starts = Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, piece) => piece * PIECE_BYTES);
  return starts.map((start) => bytes.subarray(start, start + PIECE_BYTES));
}
