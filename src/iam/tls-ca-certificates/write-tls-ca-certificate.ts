import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { requireRoom } from '../tenancies/quota.js';
import type { Quotas } from '../tenancies/quotas.js';
import {
  type ChangeTlsCaCertificateBody,
  type CreateTlsCaCertificateBody,
  nameHash,
  parsePem,
  readCaCertificate,
  type TlsCaCertificate,
  tlsCaCertificateIdentity,
  tlsCaCertificateResponse,
} from './tls-ca-certificate.js';
import {
  deleteTlsCaCertificateRow,
  findTlsCaCertificate,
  insertTlsCaCertificate,
  updateTlsCaCertificate,
} from './tls-ca-certificate-store.js';

export interface TlsCaCertificateDeps extends AdministerDeps {
  readonly quotas: Quotas;
}

/** Adds an authority to the tenancy. @throws {ApiError} forbidden, bad_request naming the field, quota_reached */
export function createTlsCaCertificate(
  deps: TlsCaCertificateDeps,
  principal: Principal,
  body: CreateTlsCaCertificateBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const act = { action: 'tls_ca_certificate.create', resource: 'tlscacertificates' } as const;
  return administer(deps, principal, act, async (tx) => {
    const now = deps.clock.now();
    const read = readCaCertificate(body, now);
    if (!read) throw new ApiError('bad_request', 'tlscacertificate: is missing');
    await requireRoom(tx, deps.quotas, tenantId, 'tls_ca_certificates');
    const certificate: TlsCaCertificate = {
      tenantId,
      certificateId: deps.ids.uuid(),
      displayName: body.display_name,
      pem: read.pem,
      subjectHash: nameHash(read.parsed.subject),
      createdAt: new Date(now),
    };
    await insertTlsCaCertificate(tx, certificate);
    return {
      result: tlsCaCertificateResponse(certificate),
      resource: tlsCaCertificateIdentity(certificate.certificateId),
      details: detailsOf(certificate),
    };
  });
}

/** Changes the fields that the body names. @throws {ApiError} forbidden, bad_request naming the field, not_found */
export function changeTlsCaCertificate(
  deps: TlsCaCertificateDeps,
  principal: Principal,
  certificateId: string,
  body: ChangeTlsCaCertificateBody,
): Promise<Record<string, unknown>> {
  const act = { action: 'tls_ca_certificate.change', resource: tlsCaCertificateIdentity(certificateId) } as const;
  return administer(deps, principal, act, async (tx) => {
    const address = { tenantId: principal.tenantId, certificateId };
    const current = await findTlsCaCertificate(tx, address);
    const read = readCaCertificate(withoutKnown(body, current?.pem), deps.clock.now());
    const changed = await updateTlsCaCertificate(tx, address, {
      ...(body.display_name == null ? {} : { displayName: body.display_name }),
      ...(read ? { pem: read.pem, subjectHash: nameHash(read.parsed.subject) } : {}),
    });
    if (!changed) throw noSuchTlsCaCertificate();
    return { result: tlsCaCertificateResponse(changed), details: detailsOf(changed) };
  });
}

/** A client that replaces the certificate in the record that it read sends the stored one along, under the other name. */
function withoutKnown(body: ChangeTlsCaCertificateBody, pem: string | undefined): ChangeTlsCaCertificateBody {
  if (body.tlscacertificate === body.certificate || pem === undefined) return body;
  if (body.tlscacertificate === pem && body.certificate != null) return { ...body, tlscacertificate: null };
  return body.certificate === pem ? { ...body, certificate: null } : body;
}

/**
 * Deletes an authority: its certificates are refused as soon as this commits. @throws {ApiError} forbidden, not_found
 */
export function deleteTlsCaCertificate(
  deps: TlsCaCertificateDeps,
  principal: Principal,
  certificateId: string,
): Promise<void> {
  const act = { action: 'tls_ca_certificate.delete', resource: tlsCaCertificateIdentity(certificateId) } as const;
  return administer(deps, principal, act, async (tx) => {
    const deleted = await deleteTlsCaCertificateRow(tx, { tenantId: principal.tenantId, certificateId });
    if (!deleted) throw noSuchTlsCaCertificate();
    return { result: undefined, details: detailsOf(deleted) };
  });
}

export function noSuchTlsCaCertificate(): ApiError {
  return new ApiError('not_found', 'There is no such TLS CA certificate.');
}

function detailsOf({ displayName, pem }: TlsCaCertificate) {
  const fingerprint = parsePem(pem)?.fingerprint256 ?? '';
  return { display_name: displayName, sha256_fingerprint: fingerprint };
}
