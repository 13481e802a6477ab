import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { requestToken } from './deployment.js';

const ANSWER_WITHIN_MS = 30_000;
const AT_ONCE = 4;
const ASK_EVERY_MS = 50;

/** One create, and what became of it. */
export interface Entry {
  readonly number: number;
  readonly key: string;
  readonly path: string;
  readonly body: string;
  /** Where its event is read; undefined until it was acknowledged. */
  read?: string;
}

/** How a stream of creates goes. */
export interface Pace {
  readonly stopped?: () => boolean;
  /** Between a client's answer and its next create; 0 by default. */
  readonly longestPauseMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly json: Record<string, unknown>;
}

/** A client that writes down what it sent and what was acknowledged; it lives longer than any process. */
export class Journal {
  readonly entries: Entry[] = [];
  readonly token: string;
  readonly #assets: readonly string[];

  private constructor(token: string, assets: readonly string[]) {
    this.token = token;
    this.#assets = assets;
  }

  /** Begins with a private asset and a public one. */
  static async begin(url: string): Promise<Journal> {
    const token = await requestToken(url);
    const assets: string[] = [];
    for (const isPublic of [false, true]) {
      const { status, json } = await request(url, token, '/archivist/v2/assets', JSON.stringify({ public: isPublic }));
      expect(status).toBe(200);
      assets.push(`${json['identity']}`);
    }
    return new Journal(token, assets);
  }

  get acknowledged(): Entry[] {
    return this.entries.filter((entry) => entry.read !== undefined);
  }

  /** The next create: an event of a private asset, of a public one, or of none, in turn. */
  next(): Entry {
    const number = this.entries.length;
    const attributes = template(number);
    const asset = this.#assets[number % 3];
    const entry: Entry = {
      number,
      key: randomUUID(),
      path: asset ? `/archivist/v2/${asset}/events` : '/archivist/v1/events',
      body: JSON.stringify(
        asset
          ? { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: attributes }
          : { attributes, trails: ['trail'], event_type: 'fault' },
      ),
    };
    this.entries.push(entry);
    return entry;
  }

  /** Sends a create and answers whether it was acknowledged. One that was before must be answered as before. */
  async send(url: string, entry = this.next()): Promise<boolean> {
    const answer = await request(url, this.token, entry.path, entry.body, entry.key).catch(() => undefined);
    if (!answer || answer.status >= 500) return false;
    expect([answer.status, answer.json]).toEqual([200, answer.json]);
    const identity = String(answer.json['identity']);
    const read = identity.startsWith('assets/') ? `/archivist/v2/${identity}` : `/archivist/v1/${identity}`;
    entry.read ??= read;
    expect(entry.read).toBe(read);
    return true;
  }

  /** Sends a few at the same time. */
  async sendMany(url: string, count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.send(url)));
  }

  /** Sends from a few clients, each its next when the last is answered, until the service does not answer any more. */
  async stream(url: string, clients: number, pace: Pace = {}): Promise<void> {
    const { stopped = () => false, longestPauseMs = 0 } = pace;
    const client = async () => {
      while (!stopped() && (await this.send(url))) if (longestPauseMs > 0) await wait(Math.random() * longestPauseMs);
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  /** Sends again what was never acknowledged, and some of the rest, as a client does after a crash. */
  async sendAgain(url: string, rest = 3): Promise<void> {
    const open = this.entries.filter((entry) => entry.read === undefined);
    const known = this.acknowledged.slice(-rest);
    await sideBySide([...open, ...known], async (entry) => {
      expect([entry.number, await this.send(url, entry)]).toEqual([entry.number, true]);
    });
  }

  get(url: string, path: string): Promise<Answer> {
    return request(url, this.token, path);
  }
}

export async function request(url: string, token: string, path: string, body?: string, key?: string): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const json = isJson ? (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>) : {};
  return { status: response.status, bytes, json };
}

/** Whether the create of this number is an event of the public asset. */
export function isPublic(number: number): boolean {
  return number % 3 === 1;
}

/** Does something with each, a few at a time. */
export async function sideBySide<T>(all: readonly T[], once: (each: T) => Promise<void>): Promise<void> {
  const open = [...all];
  const some = async () => {
    for (let each = open.pop(); each !== undefined; each = open.pop()) await once(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
}

/** Asks again until the answer suits. @throws when it does not in time */
export async function until<T>(ask: () => Promise<T>, suits: (answer: T) => boolean, withinMs = 30_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (suits(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${JSON.stringify(answer)}`);
    await wait(ASK_EVERY_MS);
  }
}

function template(number: number): Record<string, string> {
  return {
    arc_display_type: 'vcon_updated',
    conserver_link: 'archivist',
    conserver_link_name: 'archivist_updated',
    conserver_link_version: '0.3.0',
    payload: number.toString(16).padStart(64, '0'),
    payload_hash_alg: 'SHA-256',
    payload_preimage_content_type: 'application/vcon+json',
    subject: 'vcon://0190e3a5-0000-7000-8000-00000000000f',
    timestamp_declared: '2026-11-20T10:00:00Z',
    vcon_operation: 'vcon_updated',
    vcon_draft_version: '01',
    scitt_draft_version: '10',
    number: String(number),
  };
}
