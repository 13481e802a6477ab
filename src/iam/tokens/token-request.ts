/** The client that requests a token, and what it can have sent as its secret. */
export interface TokenRequest {
  readonly clientId: string;
  readonly clientSecrets: readonly string[];
}

/** Why a request for a token is refused (RFC 6749 section 5.2). */
interface TokenRefusal {
  readonly error: 'invalid_request' | 'unsupported_grant_type';
  /** Begins with the name of the parameter. */
  readonly description: string;
}

const UTF8 = new TextDecoder();
const AS_FORM = 'send a form (application/x-www-form-urlencoded) with grant_type=client_credentials';

/**
 * Reads a request of the client-credentials grant (RFC 6749 section 4.4.2). The client's id and secret come as members of the
 * form or in a Basic header, not both (section 2.3).
 */
export function readTokenRequest(body: Uint8Array, authorization: string | undefined): TokenRequest | TokenRefusal {
  const form = new URLSearchParams(UTF8.decode(body));
  const twice = ['grant_type', 'client_id', 'client_secret'].find((name) => form.getAll(name).length > 1);
  if (twice !== undefined) return invalid(`${twice}: must be given once`);
  const grant = form.get('grant_type');
  if (grant === null || grant === '') return invalid(`grant_type: is missing; ${AS_FORM}`);
  if (grant !== 'client_credentials')
    return { error: 'unsupported_grant_type', description: 'grant_type: must be client_credentials' };
  const clientId = form.get('client_id') ?? '';
  const clientSecret = form.get('client_secret') ?? '';
  const inHeader = basicCredentials(authorization);
  if (!inHeader) return { clientId, clientSecrets: [clientSecret] };
  if (clientSecret !== '')
    return invalid('client_secret: is both in the form and in the Authorization header; send it once');
  if (clientId !== '' && clientId.toLowerCase() !== inHeader.clientId.toLowerCase())
    return invalid('client_id: differs from the Authorization header');
  return inHeader;
}

function invalid(description: string): TokenRefusal {
  return { error: 'invalid_request', description };
}

function basicCredentials(authorization: string | undefined): TokenRequest | undefined {
  const encoded = authorization?.match(/^basic +([A-Za-z0-9+/=]+) *$/i)?.[1];
  if (!encoded) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0) return undefined;
  const sent = decoded.slice(colon + 1);
  // RFC 6749 2.3.1 encodes both halves as form members. Many clients do not, and a secret can have a plus sign.
  return { clientId: formDecoded(decoded.slice(0, colon)), clientSecrets: [...new Set([formDecoded(sent), sent])] };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
