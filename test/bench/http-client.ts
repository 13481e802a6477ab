import { Agent, request } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly bytes: Buffer;
  /** The header Location, when there is one. */
  readonly location?: string | undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A client with kept-alive connections of its own. Whatever the status, an answer is an answer. */
export interface HttpClient {
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Sends a GET and reads the answer as JSON. @throws {Error} when the status is none of a success */
  json(path: string, headers?: Readonly<Record<string, string>>): Promise<unknown>;
  close(): void;
}

const ANSWER_WITHIN_MS = 60_000;

/** @param url base URL without a path @param connections more requests than these wait for one to be free */
export function createHttpClient(url: string, connections: number): HttpClient {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = ({ method, path, headers = {}, body }: HttpRequest): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = { agent, hostname, port, method, path, headers: { ...headers, ...length } };
      const sent = request({ ...options, timeout: ANSWER_WITHIN_MS }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            location: response.headers.location,
            bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
          });
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} s`)));
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    send,
    async json(path, headers) {
      const { status, bytes } = await send({ method: 'GET', path, ...(headers ? { headers } : {}) });
      if (status < 200 || status > 299) throw new Error(`${path.split('?')[0]} answered ${status}`);
      return JSON.parse(bytes.toString('utf8'));
    },
    close: () => agent.destroy(),
  };
}
