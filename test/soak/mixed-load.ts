import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { uploadFile } from '../api/upload-file.js';
import { type Answer, type Journal, request, sideBySide, until } from '../faults/journal.js';
import { sampleDigest, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';

/** Where the service and the plugin inside it listen. */
export interface Places {
  readonly url: string;
  readonly plugin: string;
}

/** One thing that was acknowledged, and how it is found again. */
interface Kept {
  readonly kind: string;
  /** Throws if it is not there, is there twice, or has changed. */
  find(places: Places): Promise<void>;
}

const BULK = 20;
const DELIVERED_WITHIN_MS = 300_000;
/** Between two things. */
const LONGEST_PAUSE_MS = 200;
const issuer = sampleIssuer();

/** A client of everything but single events: it remembers what was acknowledged, outside the service. */
export class MixedLoad {
  readonly #journal: Journal;
  readonly #kept: Kept[] = [];
  readonly #waiting: Kept[] = [];
  #turn = 0;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** How much was acknowledged, by kind. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { kind } of [...this.#kept, ...this.#waiting]) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }

  /** Does one thing after the other until the service does not answer any more. */
  async stream(places: Places): Promise<void> {
    const works = [
      this.#bulk,
      this.#register,
      this.#upload,
      this.#policy,
      this.#compliance,
      this.#search,
      this.#capture,
    ];
    for (;;) {
      await wait(Math.random() * LONGEST_PAUSE_MS);
      const work = works[this.#turn % works.length]!;
      this.#turn += 1;
      const answered = await work.call(this, places).catch((error: unknown) => {
        if (error instanceof TypeError || (error as Error).name === 'TimeoutError') return false;
        throw error;
      });
      if (!answered) return;
    }
  }

  /** Finds some of what was acknowledged: the newest of it, and as much again at random. */
  async findSome(places: Places, count: number): Promise<void> {
    const random = Array.from({ length: Math.min(count, this.#kept.length) }, () => {
      return this.#kept[Math.floor(Math.random() * this.#kept.length)]!;
    });
    await sideBySide([...this.#kept.slice(-count), ...random], (each) => each.find(places));
  }

  /** Finds everything, and waits for what the plugin still delivers. */
  async findAll(places: Places): Promise<void> {
    await sideBySide(this.#waiting, (each) =>
      until(
        () => each.find(places).then(() => '', String),
        (fault) => fault === '',
        DELIVERED_WITHIN_MS,
      ).then(() => undefined),
    );
    this.#kept.push(...this.#waiting.splice(0));
    await sideBySide(this.#kept, (each) => each.find(places));
  }

  #get(url: string, path: string): Promise<Answer> {
    return this.#journal.get(url, path);
  }

  async #post(url: string, path: string, body: unknown): Promise<Answer | undefined> {
    const answer = await request(url, this.#journal.token, path, JSON.stringify(body));
    if (answer.status >= 500) return undefined;
    expect([path, answer.status, answer.json]).toEqual([path, 200, answer.json]);
    return answer;
  }

  /** The resource is read as it was when it was made. */
  #keepResource(kind: string, path: string, made: Record<string, unknown>): void {
    const find = async ({ url }: Places) => {
      const { status, json } = await this.#get(url, path);
      expect([path, status, json]).toEqual([path, 200, made]);
    };
    this.#kept.push({ kind, find });
  }

  async #bulk({ url }: Places): Promise<boolean> {
    const body = {
      events: Array.from({ length: BULK }, () => ({
        idempotency_key: randomUUID(),
        attributes: { kind: 'soak', nonce: randomUUID() },
        trails: ['soak'],
        event_type: 'soak',
      })),
    };
    const identitiesOf = ({ json }: Answer) =>
      (json['events'] as { event: { identity: string } }[]).map(({ event }) => event.identity);
    const answer = await this.#post(url, '/archivist/v1/events:bulk', body);
    if (!answer) return false;
    const identities = identitiesOf(answer);
    expect(new Set(identities).size).toBe(BULK);
    const find = async (places: Places) => {
      const again = await this.#post(places.url, '/archivist/v1/events:bulk', body);
      expect(again && identitiesOf(again)).toEqual(identities);
    };
    this.#kept.push({ kind: 'bulk request', find });
    return true;
  }

  async #register({ url }: Places): Promise<boolean> {
    const statement = sampleStatement(issuer, { payload: sampleDigest(randomUUID()) });
    const send = async (to: string) => {
      const headers = { authorization: `Bearer ${this.#journal.token}`, 'content-type': 'application/cose' };
      const init = { method: 'POST', headers, body: statement.slice(), redirect: 'manual' } as const;
      const answer = await fetch(`${to}/entries`, { ...init, signal: AbortSignal.timeout(30_000) });
      await answer.arrayBuffer();
      return answer.headers.get('location');
    };
    const location = await send(url);
    if (location === null) return false;
    const find = async (places: Places) => expect(await send(places.url)).toBe(location);
    this.#kept.push({ kind: 'registration', find });
    return true;
  }

  async #upload({ url }: Places): Promise<boolean> {
    const bytes = randomBytes(1 + Math.floor(Math.random() * 200_000));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const client = { token: this.#journal.token } as Parameters<typeof uploadFile>[1];
    const made = await uploadFile(url, client, bytes);
    if (made.status !== 200) return false;
    const path = `/archivist/v1/${made.json['identity']}`;
    const find = async (places: Places) => {
      const read = await this.#get(places.url, path);
      expect([path, createHash('sha256').update(read.bytes).digest('hex')]).toEqual([path, sha256]);
    };
    this.#kept.push({ kind: 'blob', find });
    return true;
  }

  async #policy({ url }: Places): Promise<boolean> {
    const answer = await this.#post(url, '/archivist/iam/v1/access_policies', {
      display_name: `soak ${randomUUID()}`,
      filters: [{ or: [`attributes.soak=${randomUUID()}`] }],
      access_permissions: [
        { user_attributes: [{ or: ['email=a@example.com'] }], asset_attributes_read: ['*'], behaviours: [] },
      ],
    });
    if (answer) this.#keepResource('access policy', `/archivist/iam/v1/${answer.json['identity']}`, answer.json);
    return answer !== undefined;
  }

  async #compliance({ url }: Places): Promise<boolean> {
    const answer = await this.#post(url, '/archivist/v1/compliance_policies', {
      compliance_type: 'COMPLIANCE_SINCE',
      display_name: `soak ${randomUUID()}`,
      description: 'soak',
      asset_filter: [{ or: [`attributes.soak=${randomUUID()}`] }],
      event_display_type: 'vcon_updated',
      time_period_seconds: 60,
    });
    if (answer) this.#keepResource('compliance policy', `/archivist/v1/${answer.json['identity']}`, answer.json);
    return answer !== undefined;
  }

  async #search({ url }: Places): Promise<boolean> {
    const queries = [
      '/archivist/v2/assets/-/events?event_attributes.vcon_operation=vcon_updated&page_size=20',
      '/archivist/v1/security_events?page_size=20',
      '/archivist/v2/assets?page_size=20',
    ];
    for (const query of queries) {
      const { status, json } = await this.#get(url, query);
      if (status >= 500) return false;
      if (status !== 200 && status !== 206) throw new Error(`${query}: ${status} ${JSON.stringify(json)}`);
    }
    return true;
  }

  async #capture({ plugin }: Places): Promise<boolean> {
    const uuid = randomUUID();
    const vcon = { uuid, created_at: '2026-11-20T10:00:00Z', parties: [], dialog: [], analysis: [] };
    const target = `${plugin}/chains/soak/operations/vcon_created`;
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(vcon),
      signal: AbortSignal.timeout(30_000),
    });
    if (!answer.ok) return false;
    await answer.arrayBuffer();
    const find = async ({ url }: Places) => {
      const query = `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(`vcon://${uuid}`)}&event_attributes.vcon_operation=vcon_created`;
      const { json } = await this.#get(url, query);
      expect([uuid, (json['events'] as unknown[] | undefined)?.length]).toEqual([uuid, 1]);
    };
    this.#waiting.push({ kind: 'capture', find });
    return true;
  }
}
