import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../errors.js';

/** Seals and opens the page tokens of lists. Tokens contain their query, and clients cannot change them. */
export interface PageTokens {
  /** @param page any JSON value */
  seal(page: unknown): string;
  /** Returns what was sealed. @throws {ApiError} bad_request for text that this key did not seal */
  open(token: string): unknown;
}

const TAG_BYTES = 16;
/** All that the headers of a request may have: a token that a list returned is never too long for it. */
const MAX_TOKEN = 32 * 1024;

/**
 * base64url of HMAC-SHA-256, first 16 bytes, and the page as JSON. Not encrypted: it contains only the caller's own
 * query.
 */
export function createPageTokens(key: Uint8Array): PageTokens {
  const tagOf = (page: Uint8Array): Uint8Array =>
    createHmac('sha256', key).update(page).digest().subarray(0, TAG_BYTES);
  return {
    seal(page) {
      const bytes = Buffer.from(JSON.stringify(page), 'utf8');
      return Buffer.concat([tagOf(bytes), bytes]).toString('base64url');
    },
    open(token) {
      const bytes = token.length > MAX_TOKEN ? Buffer.alloc(0) : Buffer.from(token, 'base64url');
      const page = bytes.subarray(TAG_BYTES);
      if (page.length === 0 || !timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(page)))
        throw new ApiError(
          'bad_request',
          'page_token: is not a token of this service; send a next_page_token as it was returned, or none',
        );
      return JSON.parse(page.toString('utf8'));
    },
  };
}
