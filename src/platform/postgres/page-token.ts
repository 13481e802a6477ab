import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { ApiError } from '../errors.js';

/**
 * Seals and opens the page tokens of lists. Tokens contain their query and the id after which the next page begins, which
 * can be of something that the caller may not see. Clients can neither read nor change them.
 */
export interface PageTokens {
  /** @param page any JSON value */
  seal(page: unknown): string;
  /** Returns what was sealed. @throws {ApiError} bad_request for text that this key did not seal */
  open(token: string): unknown;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** All that the headers of a request may have: a token that a list returned is never too long for it. */
const MAX_TOKEN = 32 * 1024;

/**
 * base64url of nonce, tag and the page as JSON under AES-256-GCM. The nonce is an HMAC of the page: the same page has the
 * same token, so that a list that has not changed has the same ETag.
 */
export function createPageTokens(secret: Uint8Array): PageTokens {
  const derived = (purpose: string) => new Uint8Array(hkdfSync('sha256', secret, '', `page tokens: ${purpose}`, 32));
  const [key, nonceKey] = [derived('page'), derived('nonce')];
  return {
    seal(page) {
      const bytes = Buffer.from(JSON.stringify(page), 'utf8');
      const nonce = createHmac('sha256', nonceKey).update(bytes).digest().subarray(0, NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(token) {
      const bytes = token.length > MAX_TOKEN ? Buffer.alloc(0) : Buffer.from(token, 'base64url');
      const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
      if (tag.length < TAG_BYTES) throw notOurs();
      const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAuthTag(tag);
      const page = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      try {
        decipher.final();
      } catch {
        throw notOurs();
      }
      return JSON.parse(page.toString('utf8'));
    },
  };
}

function notOurs(): ApiError {
  return new ApiError(
    'bad_request',
    'page_token: is not a token of this service; send a next_page_token as it was returned, or none',
  );
}
