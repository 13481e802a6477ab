import type { Clock } from '../../src/platform/clock.js';
import { certificateFault, failureReason } from '../../src/platform/explain-failure.js';
import { fetchDirect } from '../../src/platform/http/fetch-direct.js';
import { createAccessToken } from '../archivist-client/access-token.js';
import { DeliverLater } from '../archivist-client/delivery-failure.js';
import { WARN_BEFORE_MS } from '../archivist-client/secret-expiry.js';
import { operationEvent } from '../operation/operation-event.js';
import { broken, type Finding, ok, shouldChange } from './finding.js';

interface ServiceAccess {
  /** Base of the service, without `/archivist`. */
  readonly url: string;
  /** Empty when unset. */
  readonly clientId: string;
  readonly clientSecret: string;
}

const TIMEOUT_MS = 10_000;
const TOKEN_PATH = '/archivist/iam/v1/appidp/token';
const READ_PATH = '/archivist/v2/assets?page_size=1';
const NOBODY = '00000000-0000-8000-8000-000000000000';
const EVENT_PATH = `/archivist/v2/assets/${NOBODY}/events`;
/** A Date header has whole seconds, and the answer took time to arrive. */
const TOLERATED_MS = 5_000;
/** Beyond this the times of observation in the evidence mislead. */
const MISLEADING_MS = 60_000;

function clockFinding(dateHeader: string | null, askedMs: number, answeredMs: number): Finding {
  const service = Date.parse(dateHeader ?? '');
  if (Number.isNaN(service))
    return shouldChange('clock', 'the service sends no Date', 'check that no proxy removes it');
  // The header names the second that has begun: on average it is half a second behind.
  const apartMs = (askedMs + answeredMs) / 2 - (service + 500);
  const seconds = Math.round(Math.abs(apartMs) / 1000);
  const found = `${seconds} s ${apartMs < 0 ? 'behind' : 'ahead of'} the service’s`;
  if (Math.abs(apartMs) <= TOLERATED_MS + (answeredMs - askedMs) / 2) return ok('clock', 'agrees with the service’s');
  const change = 'synchronise both clocks with NTP';
  return Math.abs(apartMs) > MISLEADING_MS ? broken('clock', found, change) : shouldChange('clock', found, change);
}

function expiryFinding(expiresMs: number, nowMs: number): Finding {
  if (expiresMs - nowMs > WARN_BEFORE_MS) return ok('token', 'the service issues a token');
  const what = `the client secret expires on ${new Date(expiresMs).toISOString().slice(0, 10)}`;
  return shouldChange('token', what, 'ask an Owner to regenerate it, and set ARCHIVIST_CLIENT_SECRET to the new one');
}

function readFinding(status: number): Finding {
  if (status === 200 || status === 206) return ok('dry run', 'the service answers a read with the token');
  const what = `the service answers a read with the token with ${status}`;
  if (status === 401) return broken('dry run', what, 'check that ARCHIVIST_URL is the service that gave the token');
  if (status === 403) return broken('dry run', what, 'ask an Owner to give the application access');
  return broken('dry run', what, 'check ARCHIVIST_URL, and the service’s log');
}

/** A complete event on an asset that does not exist: the asset is the only reason to refuse it. */
function dryRunEvent(nowMs: number): string {
  const vcon = { payload: '0'.repeat(64), uuid: NOBODY, form: 'unsigned' } as const;
  const observed = { atMs: nowMs, sequence: '0' };
  const { attributes, timestampDeclared } = operationEvent({ name: 'vcon_created' }, vcon, {
    method: 'operator',
    observed,
  });
  const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: attributes };
  return JSON.stringify({ ...event, timestamp_declared: timestampDeclared });
}

function eventFinding(status: number): Finding {
  const check = 'dry-run event';
  if (status === 404)
    return ok(check, 'the service accepts its form, and refuses it only because its asset does not exist');
  const what = `is answered with ${status}`;
  if (status === 403) return broken(check, what, 'ask an Owner to give the application access');
  if (status === 402 || status === 429)
    return shouldChange(check, what, 'raise the quota or the rate limit of the tenancy');
  return broken(check, what, 'check ARCHIVIST_URL, and that the service is of a version that goes with this plugin');
}

/** @param status of the answer to the request for a token */
function tokenChange(status: number): string {
  if ([400, 401, 403].includes(status))
    return 'check ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET: expired, revoked, or of another service';
  return 'check ARCHIVIST_URL, and the service’s log';
}

/** Errors that are not our own may quote the service's answer, and with it a token: they are not repeated. */
function tokenFailure(error: unknown): string {
  return error instanceof DeliverLater ? error.message : 'the answer of the service has no token in it';
}

/**
 * Reports whether the service answers, issues a token for the plugin's application, serves a read, understands an event,
 * and has the same time. Records nothing, never throws, and repeats nothing of the service's answers except the status.
 */
export async function examineService(access: ServiceAccess, clock: Clock): Promise<Finding[]> {
  const { url, clientId, clientSecret } = access;
  const findings: Finding[] = [];
  let timedStatus = 0;

  const send = (path: string, init: RequestInit): Promise<Response> => fetchDirect(url + path, init, TIMEOUT_MS);

  async function timed(path: string, init: RequestInit): Promise<Response> {
    const askedMs = clock.now();
    const response = await send(path, init);
    findings.push(clockFinding(response.headers.get('date'), askedMs, clock.now()));
    timedStatus = response.status;
    return response;
  }

  try {
    if (clientId === '' || clientSecret === '') {
      await (await timed(READ_PATH, {})).body?.cancel();
      const change = 'set ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET';
      return [
        shouldChange('token', 'not requested: there are no credentials in the environment or in DATA_DIR', change),
        ...findings,
      ];
    }
    const post = (body: URLSearchParams) => timed(TOKEN_PATH, { method: 'POST', body });
    let expiresMs = Number.POSITIVE_INFINITY;
    const secretExpires = (atMs: number) => {
      expiresMs = atMs;
    };
    const token = createAccessToken({ clientId, clientSecret, clock, send: post, secretExpires });
    const bearer = await token.get().catch((error: unknown) => {
      if (findings.length === 0) throw error;
      findings.unshift(broken('token', tokenFailure(error), tokenChange(timedStatus)));
      return undefined;
    });
    if (bearer === undefined) return findings;
    const read = await send(READ_PATH, { headers: { authorization: `Bearer ${bearer}` } });
    await read.body?.cancel();
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const event = await send(EVENT_PATH, { method: 'POST', headers, body: dryRunEvent(clock.now()) });
    await event.body?.cancel();
    const given = expiryFinding(expiresMs, clock.now());
    return [given, readFinding(read.status), eventFinding(event.status), ...findings];
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return [
      broken(
        'service',
        `no answer from ${url}: ${failureReason(cause)}`,
        certificateFault(cause) === undefined
          ? 'start it, or set ARCHIVIST_URL to its address'
          : 'fix the certificate, or set ARCHIVIST_URL to a name that it contains',
      ),
      ...findings,
    ];
  }
}
