import { connect } from 'node:net';

/** What came back over a connection that was used once. Status 0: nothing that is HTTP. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  readonly milliseconds: number;
}

/** Sends bytes that no HTTP client would let through, and waits until the server closes, or for so long. */
export function rawRequest(url: string, bytes: Uint8Array, withinMs: number): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const begun = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const finish = () => {
      clearTimeout(late);
      socket.destroy();
      resolve(parsed(Buffer.concat(chunks), performance.now() - begun));
    };
    const late = setTimeout(finish, withinMs);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      // A stream of events has no end to wait for.
      if (chunks.length === 1 && chunk.toString('latin1').includes('\r\ncontent-type: text/event-stream')) finish();
    });
    socket.on('end', finish);
    socket.on('error', finish);
    socket.write(bytes);
  });
}

function parsed(answer: Buffer, milliseconds: number): RawAnswer {
  const text = answer.toString('utf8');
  const split = text.indexOf('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
  return {
    status: split < 0 ? 0 : status,
    head: text.slice(0, Math.max(split, 0)).toLowerCase(),
    body: split < 0 ? text : text.slice(split + 4),
    milliseconds,
  };
}
