/** What is published here, pages of any origin may read. */
export const ANYWHERE = { 'access-control-allow-origin': '*' };
/** What never changes. */
export const FOREVER = { ...ANYWHERE, 'cache-control': 'public, max-age=31536000, immutable' };
/** Keys change rarely, but a verifier must see a new one soon. */
export const NEWEST_KEYS = { ...ANYWHERE, 'cache-control': 'public, max-age=300' };
