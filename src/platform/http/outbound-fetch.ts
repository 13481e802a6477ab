import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import { askNameServers, createLookupInTurn } from './look-up-host.js';

const WITHIN_MS = 5_000;
const MAX_BYTES = 512 * 1024;
const LONGEST_PAUSE_MS = 200;
/** The final statuses without a body that are no redirects (Fetch standard, null body status). */
const WITHOUT_BODY: readonly number[] = [204, 205];

/** What a request to another server may carry. */
interface OutboundRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

/** Sends a request to a server whose address a user has entered. @throws {OutboundRefused} */
export type OutboundFetch = (url: string, request?: OutboundRequest) => Promise<Response>;

/** The address may not be used, or gave no usable response; the message is for the user that entered it. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';
}

/** True for a host that is an address outside public networks, or a name of this machine. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host)) return !isPublic(host);
  return /(^|\.)localhost\.?$/i.test(host);
}

/** The only part of IPv6 that is allocated for public networks (RFC 4291 section 2.4, IANA's IPv6 address space). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** An address that is routed on the public internet: not private, local, mapped, translated, reserved or unallocated. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST)) return false;
  return parsed.range() === 'unicast';
}

/**
 * Fetches from a server that an Owner named, under rules that keep it out of our own network: only https, every
 * resolved address is public, the connection goes to one of these addresses, redirects are not followed, at most 5 s
 * and 512 KiB. A GET that finds no server or a closed connection is repeated once, within the same 5 s. With
 * `allowPrivate`, for a provider on the premises, plain http and any address are allowed.
 */
export function createOutboundFetch(rules: {
  readonly allowPrivate: boolean;
  /** Of public hosts, instead of the machine's. */
  readonly nameServers?: readonly string[];
}): OutboundFetch {
  const resolve = rules.allowPrivate ? createLookupInTurn(WITHIN_MS) : createPublicLookup(rules.nameServers);
  return async (text, request = {}) => {
    const url = new URL(text);
    if (url.protocol !== 'https:' && !(rules.allowPrivate && url.protocol === 'http:'))
      throw new OutboundRefused('only https URLs are supported');
    if (!rules.allowPrivate && isPrivateHost(url.hostname)) throw privateAddress();
    const signal = AbortSignal.timeout(WITHIN_MS);
    const asking = () => ask(url, request, signal, resolve);
    const answer = await asking().catch(async (error: unknown) => {
      if ((request.method ?? 'GET') !== 'GET' || signal.aborted || !isUnreachable(error)) throw error;
      await pause(Math.random() * LONGEST_PAUSE_MS);
      return asking();
    });
    const status = answer.statusCode ?? 0;
    if (status >= 300 && status < 400) {
      answer.destroy();
      throw new OutboundRefused('the server redirects, and redirects are not followed');
    }
    if (status < 200 || status > 599) {
      answer.destroy();
      throw new OutboundRefused(`the server answered with the status ${status}, which HTTP does not have`);
    }
    const headers = Object.entries(answer.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    const body = await bodyOf(answer);
    return new Response(WITHOUT_BODY.includes(status) ? null : new Uint8Array(body), { status, headers });
  };
}

/** Connects only to addresses that were checked here: a second look-up cannot return others. */
function createPublicLookup(nameServers: readonly string[] | undefined): LookupFunction {
  return (hostname, options, callback) => {
    askNameServers(hostname, nameServers).then(
      (addresses) => {
        if (addresses.length === 0 || !addresses.every(({ address }) => isPublic(address)))
          return callback(privateAddress(), '', 0);
        if (options.all) return callback(null, addresses);
        const { address, family } = addresses[0]!;
        callback(null, address, family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** The connection failed; a refusal of our own rules is final. */
function isUnreachable(error: unknown): boolean {
  return error instanceof OutboundRefused && error.cause !== undefined;
}

function ask(
  url: URL,
  request: OutboundRequest,
  signal: AbortSignal,
  resolve: LookupFunction,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestTls : requestPlain;
  return new Promise((answered, failed) => {
    const sent = send(
      url,
      {
        method: request.method ?? 'GET',
        headers: { ...request.headers, 'accept-encoding': 'identity' },
        agent: false,
        signal,
        lookup: resolve,
      },
      answered,
    );
    sent.once('error', (error) => {
      failed(
        error instanceof OutboundRefused ? error : new OutboundRefused('the server did not answer', { cause: error }),
      );
    });
    sent.end(request.body);
  });
}

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_BYTES) throw new OutboundRefused('the response is too long');
      chunks.push(chunk);
    }
  } catch (error) {
    answer.destroy();
    throw error instanceof OutboundRefused ? error : new OutboundRefused('the response was cut off', { cause: error });
  }
  return Buffer.concat(chunks);
}

function privateAddress(): OutboundRefused {
  return new OutboundRefused(
    'the address is in a private network, which the operator of this service does not allow (PRIVATE_IDENTITY_PROVIDERS)',
  );
}
