import { findApplication } from '../../iam/applications/application-store.js';
import { type AdministerDeps, administer } from '../../iam/security/administer.js';
import { lockForCounting } from '../../iam/tenancies/quota-store.js';
import { requireManager } from '../../iam/tenancies/require-manager.js';
import { tenancyLog } from '../../ledger/log.js';
import { publishedLeaves } from '../../ledger/published-leaves-store.js';
import { ApiError } from '../../platform/errors.js';
import { isPrivateHost } from '../../platform/http/outbound-fetch.js';
import type { Principal } from '../../platform/http/principal.js';
import type { SealedBox } from '../../platform/keys/sealed-box.js';
import { condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { newWebhookSecret } from './sign-webhook.js';
import {
  applicationIdOf,
  type CreateWebhookBody,
  DELIVERY_STATUSES,
  webhookDeliveryResponse,
  webhookIdentity,
  webhookResponse,
} from './webhook.js';
import { replayDelivery, webhookDeliveryRows } from './webhook-delivery-store.js';
import { countWebhooks, deleteWebhookRow, findWebhook, insertWebhook, webhookRows } from './webhook-store.js';

const MOST_WEBHOOKS = 100;
const OWNERS_ONLY = 'Only Owners may read the webhooks of a tenancy.';

export interface WebhookDeps extends AdministerDeps {
  readonly pageTokens: PageTokens;
  readonly secrets: SealedBox;
  /** Receivers in private networks are allowed. */
  readonly allowPrivate: boolean;
}

interface ListRequest {
  readonly query: Readonly<Record<string, unknown>>;
  readonly exactTotal: boolean;
}

/**
 * Creates a webhook of an application. It tells what is confirmed from then on. The response has its secret, for the
 * only time.
 * @throws {ApiError} forbidden, bad_request naming the field, quota_reached
 */
export function createWebhook(
  deps: WebhookDeps,
  principal: Principal,
  body: CreateWebhookBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const act = { action: 'webhook.create', resource: 'webhooks' } as const;
  return administer(deps, principal, act, async (tx) => {
    const url = readUrl(body.url, deps.allowPrivate);
    const application = body.application ?? `applications/${principal.subject}`;
    const applicationId = ownApplication(principal, body.application);
    if (!(await findApplication(tx, { tenantId, applicationId }, 'kept')))
      throw new ApiError('bad_request', 'application: there is no such application');
    await lockForCounting(tx, tenantId);
    if ((await countWebhooks(tx, tenantId)) >= MOST_WEBHOOKS)
      throw new ApiError('quota_reached', `A tenancy has at most ${MOST_WEBHOOKS} webhooks. Delete one.`);
    const log = tenancyLog(tenantId);
    const published = (await publishedLeaves(tx, [log])).get(log.logId) ?? 0n;
    const webhookId = deps.ids.uuid();
    const secret = newWebhookSecret((count) => deps.ids.randomBytes(count));
    const webhook = {
      tenantId,
      webhookId,
      applicationId,
      displayName: body.display_name,
      url,
      eventTypes: [...new Set(body.event_types)],
      secretSealed: deps.secrets.seal(secret, webhookId),
      cursor: published - 1n,
      createdAt: new Date(deps.clock.now()),
    };
    await insertWebhook(tx, webhook);
    const details = { application, host: new URL(url).host, event_types: webhook.eventTypes };
    return { result: webhookResponse(webhook, secret), resource: webhookIdentity(webhookId), details };
  });
}

/** The named application, or the caller. @throws {ApiError} bad_request for a person who names none */
function ownApplication({ kind, subject }: Principal, named: string | undefined): string {
  if (named !== undefined) return applicationIdOf(named);
  if (kind === 'application') return subject;
  throw new ApiError('bad_request', 'application: is missing');
}

/** The receiver's address. @throws {ApiError} bad_request */
function readUrl(text: string, allowPrivate: boolean): string {
  const refuse = (why: string) => new ApiError('bad_request', `url: ${why}`);
  if (!URL.canParse(text)) throw refuse('must be a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw refuse('must begin with https://');
  if (url.username !== '' || url.password !== '') throw refuse('must have no user and no password');
  if (!allowPrivate && isPrivateHost(url.hostname)) throw refuse('is in a private network');
  return url.href;
}

/** One webhook. @throws {ApiError} forbidden, not_found */
export async function readWebhook(
  deps: WebhookDeps,
  principal: Principal,
  webhookId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, OWNERS_ONLY);
  const found = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    findWebhook(tx, { tenantId, webhookId }),
  );
  if (!found) throw noSuchWebhook();
  return webhookResponse(found);
}

/** A page of the tenancy's webhooks, newest first. @throws {ApiError} forbidden */
export function listWebhooks(
  deps: WebhookDeps,
  principal: Principal,
  { query, exactTotal }: ListRequest,
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireManager(principal, OWNERS_ONLY);
  const list = `webhooks ${tenantId}`;
  const read = readListQuery(query, list, deps.pageTokens);
  for (const [name] of read.filters) throw noSuchFilter(name, []);
  const conditions = [condition('w.tenant_id = ?', tenantId)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = webhookRows.reader(tx, read.filters);
    const page = await listPage(reader, { list, query: read, conditions, exactTotal, tokens: deps.pageTokens });
    return { ...page, entries: page.entries.map((webhook) => webhookResponse(webhook)) };
  });
}

/** Deletes a webhook with its deliveries. @throws {ApiError} forbidden, not_found */
export function deleteWebhook(deps: WebhookDeps, principal: Principal, webhookId: string): Promise<void> {
  const act = { action: 'webhook.delete', resource: webhookIdentity(webhookId) } as const;
  return administer(deps, principal, act, async (tx) => {
    const deleted = await deleteWebhookRow(tx, { tenantId: principal.tenantId, webhookId });
    if (!deleted) throw noSuchWebhook();
    return { result: undefined, details: { display_name: deleted.displayName } };
  });
}

/** A page of a webhook's deliveries, newest first. @throws {ApiError} forbidden, not_found, bad_request */
export function listDeliveries(
  deps: WebhookDeps,
  principal: Principal,
  webhookId: string,
  { query, exactTotal }: ListRequest,
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireManager(principal, OWNERS_ONLY);
  const list = `webhook deliveries ${tenantId} ${webhookId}`;
  const read = readListQuery(query, list, deps.pageTokens);
  const conditions = [
    condition('d.tenant_id = ? AND d.webhook_id = ?', tenantId, webhookId),
    ...read.filters.map(([name, value]) => {
      if (name !== 'status') throw noSuchFilter(name, ['status']);
      if (!DELIVERY_STATUSES.some((status) => status === value))
        throw new ApiError('bad_request', `status: must be one of ${DELIVERY_STATUSES.join(', ')}`);
      return condition('d.status = ?', value);
    }),
  ];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    if (!(await findWebhook(tx, { tenantId, webhookId }))) throw noSuchWebhook();
    const reader = webhookDeliveryRows.reader(tx, []);
    const page = await listPage(reader, { list, query: read, conditions, exactTotal, tokens: deps.pageTokens });
    return { ...page, entries: page.entries.map(webhookDeliveryResponse) };
  });
}

/** Sends a delivery again, under the same id. @throws {ApiError} forbidden, not_found */
export function replay(
  deps: WebhookDeps,
  principal: Principal,
  address: { readonly webhookId: string; readonly deliveryId: string },
): Promise<Record<string, unknown>> {
  const resource = `${webhookIdentity(address.webhookId)}/deliveries/${address.deliveryId}`;
  return administer(deps, principal, { action: 'webhook.replay', resource }, async (tx) => {
    const { tenantId } = principal;
    const delivery = await replayDelivery(tx, { tenantId, ...address }, new Date(deps.clock.now()));
    if (!delivery) throw new ApiError('not_found', 'There is no such delivery.');
    return { result: webhookDeliveryResponse(delivery) };
  });
}

function noSuchWebhook(): ApiError {
  return new ApiError('not_found', 'There is no such webhook.');
}
