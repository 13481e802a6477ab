import { createHash, type X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { isSentByOtherPage } from '../../platform/http/sent-by-other-page.js';
import type { Database } from '../../platform/postgres/database.js';
import { type Certificate, readCertificate } from '../../platform/x509/certificate.js';
import { namedTenancy } from '../tenancies/named-tenancy.js';
import { type ClientChain, readClientChain, vouchesFor } from './client-chain.js';
import { nameHash, parsePem } from './tls-ca-certificate.js';
import { findAuthorities } from './tls-ca-certificate-store.js';

/** Clients often present the same few certificates, and parsing one costs more than the rest of the check. */
const MAX_READ = 500;
/** Maximum number of authorities of one tenancy that are checked. */
const MAX_AUTHORITIES = 50;
/** Of a subject: a longer one may not fit into the index of creators, and each write of its holder would fail there. */
const MAX_SUBJECT_BYTES = 1_024;

/**
 * Finds the principal of the connection's client certificate; undefined without a certificate, and for a request that a
 * page of another origin made: browsers send a certificate with those, too. Only our own TLS listener is trusted for
 * this: headers with a certificate are ignored. Authorities are looked up on each request. A deleted authority
 * therefore stops working at once, also on open connections.
 * Authorities of several tenancies may vouch for it: anybody can register an authority's certificate. The request then
 * names its tenancy in the header `archivist-tenancy`.
 * @throws {ApiError} unauthorized if no authority of an enabled tenancy, or of the named one, vouches for it, if
 *   authorities of several tenancies do and the request names none, or if its subject is too long
 */
export function createAuthenticateCertificate(deps: {
  readonly database: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
}): (request: IncomingMessage) => Promise<Principal | undefined> {
  const known = new LRUCache<string, Certificate>({ max: MAX_READ });
  const read = (x509: X509Certificate): Certificate => {
    const certificate = known.get(x509.fingerprint256) ?? readCertificate(x509.raw);
    known.set(x509.fingerprint256, certificate);
    return certificate;
  };
  return async (request) => {
    const { socket } = request;
    const leaf = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    if (!leaf || isSentByOtherPage(request, deps.publicUrl)) return undefined;
    const chain = readClientChain(leaf);
    const names = chain.flatMap(({ issuer }) => (issuer ? [nameHash(issuer)] : []));
    const wanted = { tenantId: tenancyOf(request), limit: MAX_AUTHORITIES };
    const candidates = await deps.database.inTransaction('system', (tx) => findAuthorities(tx, names, wanted));
    const now = deps.clock.now();
    const vouching = candidates.flatMap(({ tenantId, pem }) => {
      const authority = parsePem(pem);
      return authority && vouchesFor(authority, chain, now, read) ? [{ tenantId, authority }] : [];
    });
    const [first] = vouching;
    if (!first)
      throw new ApiError(
        'unauthorized',
        wanted.tenantId === undefined
          ? 'No tenancy accepts this client certificate. It must be valid, for TLS clients, and issued by an authority that an Owner has added as a TLS CA certificate.'
          : 'The tenancy in archivist-tenancy does not accept this client certificate. It must be valid, for TLS clients, and issued by an authority that an Owner has added as a TLS CA certificate.',
      );
    if (vouching.some(({ tenantId }) => tenantId !== first.tenantId))
      throw new ApiError(
        'unauthorized',
        'Several tenancies accept this client certificate. Name yours in the header archivist-tenancy: tenancies/<uuid>.',
      );
    return principalOf(chain, first);
  };
}

/** The tenancy that the request names. @throws {ApiError} unauthorized if the header has none */
function tenancyOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['archivist-tenancy']?.toString();
  if (header === undefined) return undefined;
  const tenantId = namedTenancy(header);
  if (tenantId === undefined) throw new ApiError('unauthorized', 'archivist-tenancy: must be tenancies/<uuid>.');
  return tenantId;
}

function principalOf(
  [leaf]: ClientChain,
  { tenantId, authority }: { tenantId: string; authority: X509Certificate },
): Principal {
  const subject = distinguishedName(leaf.subject);
  if (Buffer.byteLength(subject) > MAX_SUBJECT_BYTES)
    throw new ApiError(
      'unauthorized',
      `The subject of this client certificate is longer than ${MAX_SUBJECT_BYTES} bytes.`,
    );
  return {
    kind: 'certificate',
    tenantId,
    issuer: authorityIssuer(authority),
    subject,
    displayName: /(?:^|\n)CN=(.*)/.exec(leaf.subject)?.[1] ?? subject,
    email: '',
    roles: [],
    claims: {},
  };
}

/** Derived from its key, so that a renewed certificate of the same authority means the same principals. */
function authorityIssuer(authority: X509Certificate): string {
  const key = authority.publicKey.export({ type: 'spki', format: 'der' });
  return `tls-ca:${createHash('sha256').update(key).digest('hex')}`;
}

/**
 * RFC 4514: the most specific part first, `CN=press 7,O=Acme`. Node writes one part per line, escaped, in the opposite
 * order.
 */
function distinguishedName(subject: string): string {
  return subject.split('\n').reverse().join(',');
}
