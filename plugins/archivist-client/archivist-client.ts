import { type PublicJwk, readKeyDocument } from '../../src/core/index.js';
import type { Clock } from '../../src/platform/clock.js';
import { fetchDirect } from '../../src/platform/http/fetch-direct.js';
import type { EventAttributes } from '../operation/operation-event.js';
import { createAccessToken } from './access-token.js';
import type { CaptureReport } from './capture-report.js';
import { DeliverLater, type ErrorBody, type EventRefused, failureFrom, failureOf } from './delivery-failure.js';

/** The public keys of the service. */
export interface ServiceKeys {
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
}

/** The part of the archivist interface that delivery uses. Each call throws `EventRefused` or `DeliverLater`. */
export interface ArchivistClient {
  /** Identity of the asset with this subject, if there is one that this client can see. */
  findAsset(subject: string): Promise<string | undefined>;
  /** Creates the asset of a subject, or finds the one that a concurrent worker has created. */
  createAsset(subject: string): Promise<string>;
  /** Records an event. With a repeated key and an equal body, returns the identity of the first event. */
  recordEvent(assetIdentity: string, event: NewEvent, idempotencyKey: string): Promise<string>;
  /** Records many events in one request. Each has its own outcome, in order. */
  recordEvents(items: readonly BulkEvent[]): Promise<readonly BulkOutcome[]>;
  /**
   * The transparent statement: statement, receipts and event in one file. Refused with 404 while the log is not sealed.
   */
  transparentStatement(eventIdentity: string): Promise<Uint8Array>;
  /** The current public keys of the service. */
  serviceKeys(): Promise<ServiceKeys>;
  /** Attributes of the newest events about a subject, on any asset that this client can see; at most 100. */
  eventsAbout(subject: string): Promise<readonly EventAttributes[]>;
  /** Tells the service how capture stands, in place of what was told before. */
  reportCapture(report: CaptureReport): Promise<void>;
  /** Identity of an event of the asset with all these attributes. */
  findEvent(assetIdentity: string, attributes: Readonly<Record<string, string>>): Promise<string | undefined>;
}

interface NewEvent {
  readonly timestampDeclared?: string | undefined;
  readonly attributes: EventAttributes;
}

/** An event of a bulk request. */
export interface BulkEvent {
  readonly assetIdentity: string;
  readonly event: NewEvent;
  readonly idempotencyKey: string;
}

/** The event's identity, or why it was refused. */
export type BulkOutcome = { readonly identity: string } | { readonly failure: EventRefused | DeliverLater };

interface ArchivistClientOptions {
  /** Base of the service, without `/archivist`. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  /** Called with each token when the client secret expires. */
  readonly secretExpires?: (clientId: string, atMs: number) => void;
}

/** Events about a subject that are read. */
const MOST_ABOUT = 100;
const TIMEOUT_MS = 15_000;
const DISPLAY_TYPE = 'vcon';
const LOG_KEYS = '/.well-known/scitt-keys';
const ISSUER_KEYS = '/archivist/v1/didweb/did.json';

interface Call {
  readonly what: string;
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

/**
 * A client that authenticates with client credentials. It requests a token when first needed, and again after one 401.
 */
export function createArchivistClient(options: ArchivistClientOptions): ArchivistClient {
  const { url, clock, timeoutMs = TIMEOUT_MS } = options;

  async function send(what: string, path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetchDirect(url + path, init, timeoutMs);
    } catch (error) {
      throw new DeliverLater(`${what}: ${reasonOf(error)}`);
    }
  }

  const token = createAccessToken({
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    clock,
    secretExpires: (atMs) => options.secretExpires?.(options.clientId, atMs),
    send: (form) => send('token', '/archivist/iam/v1/appidp/token', { method: 'POST', body: form }),
  });

  async function attempt(call: Call, bearer: string): Promise<Response> {
    const headers = {
      authorization: `Bearer ${bearer}`,
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
    };
    const init = call.body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(call.body) };
    return send(call.what, call.path, init);
  }

  async function respond(call: Call): Promise<Response> {
    const bearer = await token.get();
    let response = await attempt(call, bearer);
    if (response.status === 401) {
      await response.body?.cancel();
      token.forget(bearer);
      response = await attempt(call, await token.get());
    }
    if (!response.ok) throw await failureOf(response, call.what, clock.now());
    return response;
  }

  async function answer<Body>(call: Call): Promise<Body> {
    const response = await respond(call);
    try {
      return (await response.json()) as Body;
    } catch (error) {
      throw new DeliverLater(`${call.what}: ${reasonOf(error)}`);
    }
  }

  async function bytes(response: Response, what: string): Promise<Uint8Array> {
    return new Uint8Array(
      await response.arrayBuffer().catch((error: unknown) => {
        throw new DeliverLater(`${what}: ${reasonOf(error)}`);
      }),
    );
  }

  async function publicKeys(path: string) {
    const response = await send('keys', path, {});
    if (!response.ok) throw await failureOf(response, 'keys', clock.now());
    return readKeyDocument(await bytes(response, 'keys'));
  }

  async function create(call: Call): Promise<string> {
    const { identity } = await answer<{ identity?: unknown }>(call);
    if (typeof identity !== 'string') throw new DeliverLater(`${call.what}: the answer has no identity`);
    return identity;
  }

  return {
    async findAsset(subject) {
      const query = new URLSearchParams({ 'attributes.subject': subject, page_size: '1' });
      const path = `/archivist/v2/assets?${query}`;
      const { assets } = await answer<{ assets?: { identity: string }[] }>({ what: 'asset look-up', path });
      return assets?.[0]?.identity;
    },
    createAsset: (subject) =>
      create({
        what: 'asset',
        path: '/archivist/v2/assets',
        idempotencyKey: `asset:${subject}`,
        body: {
          behaviours: ['RecordEvidence'],
          attributes: { arc_display_type: DISPLAY_TYPE, arc_display_name: subject, subject },
          public: false,
        },
      }),
    recordEvent: (assetIdentity, event, idempotencyKey) =>
      create({
        what: 'event',
        path: `/archivist/v2/${assetIdentity}/events`,
        idempotencyKey,
        body: eventBody(event),
      }),
    async recordEvents(items) {
      const events = items.map(({ assetIdentity, event, idempotencyKey }) => ({
        asset_identity: assetIdentity,
        idempotency_key: idempotencyKey,
        ...eventBody(event),
      }));
      const path = '/archivist/v2/assets/-/events:bulk';
      const { events: answers } = await answer<{ events?: BulkAnswer[] }>({ what: 'events', path, body: { events } });
      if (answers?.length !== items.length) throw new DeliverLater('events: the answer is not one for each event');
      return answers.map(bulkOutcome);
    },
    async transparentStatement(eventIdentity) {
      const path = `/archivist/v2/${eventIdentity}/transparent-statement`;
      return bytes(await respond({ what: 'receipt', path }), 'receipt');
    },
    async serviceKeys() {
      const [logKeys, issuerKeys] = await Promise.all([publicKeys(LOG_KEYS), publicKeys(ISSUER_KEYS)]);
      return { logKeys, issuerKeys };
    },
    async eventsAbout(subject) {
      const found: EventAttributes[] = [];
      // A page of large events is shorter than its page_size.
      for (let next = ''; ; ) {
        const query = new URLSearchParams({
          'event_attributes.subject': subject,
          page_size: `${MOST_ABOUT - found.length}`,
        });
        if (next !== '') query.set('page_token', next);
        const path = `/archivist/v2/assets/-/events?${query}`;
        const page = await answer<{ events?: { event_attributes?: EventAttributes }[]; next_page_token?: string }>({
          what: 'event look-up',
          path,
        });
        found.push(...(page.events ?? []).map(({ event_attributes }) => event_attributes ?? {}));
        next = page.next_page_token ?? '';
        if (next === '' || found.length >= MOST_ABOUT) return found;
      }
    },
    async reportCapture(report) {
      const response = await respond({ what: 'capture report', path: '/archivist/v1/capture_reports', body: report });
      await response.body?.cancel();
    },
    async findEvent(assetIdentity, attributes) {
      const query = new URLSearchParams({ page_size: '1' });
      for (const [name, value] of Object.entries(attributes)) query.set(`event_attributes.${name}`, value);
      const path = `/archivist/v2/${assetIdentity}/events?${query}`;
      // A page can be empty before the end of the list.
      for (let page = path; ; ) {
        const { events, next_page_token: next } = await answer<{
          events?: { identity: string }[];
          next_page_token?: string;
        }>({ what: 'event look-up', path: page });
        if (events?.[0] || !next) return events?.[0]?.identity;
        page = `${path}&page_token=${encodeURIComponent(next)}`;
      }
    },
  };
}

interface BulkAnswer extends ErrorBody {
  readonly status: number;
  readonly event?: { readonly identity?: unknown };
}

function eventBody({ timestampDeclared, attributes }: NewEvent) {
  return {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    timestamp_declared: timestampDeclared,
    event_attributes: attributes,
  };
}

function bulkOutcome(answer: BulkAnswer): BulkOutcome {
  const identity = answer.event?.identity;
  if (answer.status === 200 && typeof identity === 'string') return { identity };
  return { failure: failureFrom(answer.status, answer, 'event') };
}

/** Why the request failed: `fetch` hides it in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const cause = error.cause as { code?: unknown } | undefined;
  return typeof cause?.code === 'string'
    ? cause.code
    : error.name === 'TimeoutError'
      ? 'no answer in time'
      : error.name;
}
