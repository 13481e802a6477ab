import type { Client } from './test-service.js';

/** A message of a stream of server-sent events. */
export interface StreamFrame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** What has come so far, without signs of life. */
  readonly frames: readonly StreamFrame[];
  /** The id that a browser would send when it connects again. */
  lastId(): string | undefined;
  /** The first message that suits. @throws when the stream ends, or after a minute, without one */
  frame(suits: (frame: StreamFrame) => boolean): Promise<StreamFrame>;
  /** Resolves when the service has ended the stream. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const PATIENCE_MS = 60_000;

/** Opens a stream of events and reads it as a browser does. */
export async function openStream(
  url: string,
  { token }: Pick<Client, 'token'>,
  query = '',
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const abort = new AbortController();
  const response = await fetch(`${url}/archivist/v1/events/stream${query}`, {
    headers: { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers },
    signal: abort.signal,
  });
  const frames: StreamFrame[] = [];
  const lookers = new Set<() => void>();
  let lastId: string | undefined;
  let isOver = false;
  const take = (text: string): void => {
    const fields = new Map(text.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    lastId = fields.get('id') ?? lastId;
    const data = fields.get('data');
    if (data !== undefined)
      frames.push({ id: fields.get('id'), event: fields.get('event') ?? 'message', data: JSON.parse(data) });
    for (const look of lookers) look();
  };
  const read = async (): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
        rest = parts.pop()!;
        parts.forEach(take);
      }
    } catch {
      // Closed here, or cut off: what came stays.
    }
    isOver = true;
    for (const look of lookers) look();
  };
  // A refusal has no messages; it is read as well, so that nothing is left open.
  const ended = read();
  return {
    status: response.status,
    headers: response.headers,
    frames,
    lastId: () => lastId,
    ended,
    frame: (suits) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => settle(new Error(`not among ${JSON.stringify(frames)}`)), PATIENCE_MS);
        const settle = (outcome: StreamFrame | Error): void => {
          clearTimeout(late);
          lookers.delete(look);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        };
        const look = (): void => {
          const found = frames.find(suits);
          if (found) settle(found);
          else if (isOver) settle(new Error(`ended without it: ${JSON.stringify(frames)}`));
        };
        lookers.add(look);
        look();
      }),
    async close() {
      abort.abort();
      await ended;
    },
  };
}
