import type { PublicJwk } from '../../src/core/index.js';
import type { Clock } from '../../src/platform/clock.js';
import type { EventAttributes } from '../operation/operation-event.js';
import { createAuthorizedCalls } from './authorized-calls.js';
import type { CaptureReport } from './capture-report.js';
import { DeliverLater, type ErrorBody, type EventRefused, failureFrom } from './delivery-failure.js';
import { eventsAbout, findEvent } from './find-events.js';
import { eventBody, type NewEvent } from './new-event.js';
import { publicKeys } from './public-keys.js';
import { readBytes } from './read-response.js';
import { createAsset, findAsset } from './vcon-asset.js';

/** The public keys of the service. */
export interface ServiceKeys {
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
}

/** The part of the archivist interface that delivery uses. Each call throws `EventRefused` or `DeliverLater`. */
export interface ArchivistClient {
  /** Identity of the asset of this vCon, if its own tenancy has one that is not public. */
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
  /** Attributes of the newest events about a subject that are of this client's own tenancy; at most 100. */
  eventsAbout(subject: string): Promise<readonly EventAttributes[]>;
  /** Tells the service how capture stands, in place of what was told before. */
  reportCapture(report: CaptureReport): Promise<void>;
  /** Identity of an event of the asset with all these attributes. */
  findEvent(assetIdentity: string, attributes: Readonly<Record<string, string>>): Promise<string | undefined>;
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

const TIMEOUT_MS = 15_000;
const LOG_KEYS = '/.well-known/scitt-keys';
const ISSUER_KEYS = '/archivist/v1/didweb/did.json';

/** One event of the answer to a bulk request. */
interface BulkAnswer extends ErrorBody {
  readonly status: number;
  readonly event?: { readonly identity?: unknown };
}

function bulkOutcome(answer: BulkAnswer | null): BulkOutcome {
  if (!answer) throw new DeliverLater('events: the answer is not one for each event');
  const identity = answer.event?.identity;
  if (answer.status === 200 && typeof identity === 'string') return { identity };
  return { failure: failureFrom(answer.status, answer, 'event') };
}

/**
 * A client that authenticates with client credentials. It requests a token when first needed, and again after one 401.
 */
export function createArchivistClient(options: ArchivistClientOptions): ArchivistClient {
  const { url, clock, timeoutMs = TIMEOUT_MS } = options;
  const calls = createAuthorizedCalls({ ...options, timeoutMs });
  return {
    findAsset: (subject) => findAsset(calls, subject),
    createAsset: (subject) => createAsset(calls, subject),
    recordEvent(assetIdentity, event, idempotencyKey) {
      const path = `/archivist/v2/${assetIdentity}/events`;
      return calls.create({ what: 'event', path, idempotencyKey, body: eventBody(event) });
    },
    async recordEvents(items) {
      const path = '/archivist/v2/assets/-/events:bulk';
      const events = items.map(({ assetIdentity, event, idempotencyKey }) => ({
        asset_identity: assetIdentity,
        idempotency_key: idempotencyKey,
        ...eventBody(event),
      }));
      const { events: answers } = await calls.answer<{ events?: (BulkAnswer | null)[] }>({
        what: 'events',
        path,
        body: { events },
      });
      if (answers?.length !== items.length) throw new DeliverLater('events: the answer is not one for each event');
      return answers.map(bulkOutcome);
    },
    async transparentStatement(eventIdentity) {
      const path = `/archivist/v2/${eventIdentity}/transparent-statement`;
      return readBytes(await calls.respond({ what: 'receipt', path }), 'receipt');
    },
    async serviceKeys() {
      const read = (path: string) => publicKeys(url + path, timeoutMs, clock);
      const [logKeys, issuerKeys] = await Promise.all([read(LOG_KEYS), read(ISSUER_KEYS)]);
      return { logKeys, issuerKeys };
    },
    eventsAbout: (subject) => eventsAbout(calls, subject),
    async reportCapture(report) {
      const response = await calls.respond({
        what: 'capture report',
        path: '/archivist/v1/capture_reports',
        body: report,
      });
      await response.body?.cancel();
    },
    findEvent: (assetIdentity, attributes) => findEvent(calls, assetIdentity, attributes),
  };
}
