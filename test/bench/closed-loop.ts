import { connect, type Socket } from 'node:net';

/** A request without an answer after this time ends the measurement. */
const ANSWER_WITHIN_MS = 60_000;

/** A request as it goes over the connection. */
export type NextRequest = () => Buffer;

export interface ClosedLoop {
  /** Requests that were answered as expected, per second. */
  readonly perSecond: number;
  readonly answered: number;
  /** Answered with another status. */
  readonly refused: number;
  /** Milliseconds from a request to its answer. */
  readonly times: readonly number[];
}

/**
 * Keeps `connections` requests under way for some seconds: each connection sends its next request when its last one is
 * answered. It reads of an answer only the status and the length, because it shares the machine with what it measures.
 * @throws {Error} when a connection fails, a request is not answered in time, or a response has no Content-Length
 */
export async function closedLoop(
  url: string,
  {
    connections,
    seconds,
    expected = 200,
    answerWithinMs = ANSWER_WITHIN_MS,
  }: {
    readonly connections: number;
    readonly seconds: number;
    readonly expected?: number;
    readonly answerWithinMs?: number;
  },
  next: NextRequest,
): Promise<ClosedLoop> {
  const { hostname, port } = new URL(url);
  const begun = performance.now();
  const times: number[] = [];
  let refused = 0;
  const ends = begun + seconds * 1000;
  const onAnswer = (status: number, milliseconds: number): boolean => {
    if (status === expected) times.push(milliseconds);
    else refused += 1;
    return performance.now() < ends;
  };
  const connection = (): Socket => {
    const socket = connect(Number(port), hostname);
    const late = new Error(`${url} did not answer a request within ${answerWithinMs / 1000} s`);
    return socket.setTimeout(answerWithinMs, () => void socket.destroy(late));
  };
  await Promise.all(Array.from({ length: connections }, () => drive(connection(), next, onAnswer)));
  const took = (performance.now() - begun) / 1000;
  return { perSecond: times.length / took, answered: times.length, refused, times };
}

/** Sends request after request over one connection until `onAnswer` says that it is enough. */
function drive(
  socket: Socket,
  next: NextRequest,
  onAnswer: (status: number, milliseconds: number) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let received: Buffer = Buffer.alloc(0);
    let done = false;
    const send = (): void => {
      sentAt = performance.now();
      socket.write(next());
    };
    socket.setNoDelay(true).once('connect', send);
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const status = completeAnswer(received);
      if (status === undefined) return;
      received = Buffer.alloc(0);
      if (onAnswer(status, performance.now() - sentAt)) return send();
      done = true;
      socket.end();
    });
    socket.once('error', reject);
    socket.once('close', () => (done ? resolve() : reject(new Error('the server closed a connection'))));
  });
}

/** The status of an answer that has arrived as a whole. */
function completeAnswer(received: Buffer): number | undefined {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const text = received.toString('latin1', 0, head);
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  if (length === undefined) throw new Error('a response has no Content-Length');
  return received.length >= head + 4 + Number(length) ? Number(text.slice(9, 12)) : undefined;
}

/** A POST, of JSON unless the headers say otherwise, over a connection that is kept open. */
export function postRequest(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): Buffer {
  const length = String(Buffer.byteLength(body));
  const head = headOf(`POST ${path}`, { 'content-type': 'application/json', 'content-length': length, ...headers });
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

/** A GET over a connection that is kept open. */
export function getRequest(path: string): Buffer {
  return Buffer.from(headOf(`GET ${path}`, {}));
}

function headOf(request: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
