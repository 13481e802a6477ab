const TENANCY_ISSUER =
  /^did:web:[^:\s]+(?::[^:\s]+)*:archivist:v1:didweb:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Returns the DID of a service (did:web method). Its document is at `/archivist/v1/didweb/did.json` below its public
 * URL.
 */
export function serviceDid(publicUrl: string): string {
  const url = new URL(publicUrl);
  const prefix = url.pathname.split('/').filter((part) => part !== '');
  return ['did', 'web', encodeURIComponent(url.host), ...prefix, 'archivist', 'v1', 'didweb'].join(':');
}

/** Returns the DID of the issuer of statements about a tenancy's events. */
export function issuerDid(publicUrl: string, tenantId: string): string {
  return `${serviceDid(publicUrl)}:${tenantId}`;
}

/** What a did:web names, part by part: a host may be written in capitals, and every character in percents. */
function webParts(did: string): readonly string[] | undefined {
  if (!did.startsWith('did:web:')) return undefined;
  try {
    const [host = '', ...path] = did.slice('did:web:'.length).split(':').map(decodeURIComponent);
    return [host.toLowerCase(), ...path];
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a DID is the same as another, or below it. Spellings that resolve to the same document count as the
 * same (did:web method).
 */
export function isWithinDid(did: string, other: string): boolean {
  if (did === other || did.startsWith(`${other}:`)) return true;
  const [parts, outer] = [webParts(did), webParts(other)];
  if (!parts || !outer) return false;
  return outer.every((part, place) => part === parts[place]);
}

/** Returns the uuid of the tenancy that an issuer's DID names; undefined for any other name. */
export function tenancyOfIssuer(issuer: string | undefined): string | undefined {
  return TENANCY_ISSUER.exec(issuer ?? '')?.[1];
}

/** Returns whether an issuer is a tenancy of the service that signs its logs under this URL. */
export function isIssuerOfService(issuer: string | undefined, logIssuer: string | undefined): boolean {
  if (issuer === undefined || logIssuer === undefined || !URL.canParse(logIssuer)) return false;
  return issuer.startsWith(`${serviceDid(logIssuer)}:`);
}
