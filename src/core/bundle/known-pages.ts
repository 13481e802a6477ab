/**
 * The pages of released versions: SHA-256, in hex, of `bundle.html` as the build made it, and the version. A release adds
 * its own line in the version after it, because the page of a version cannot contain its own hash.
 */
export const RELEASED_PAGES: ReadonlyMap<string, string> = new Map<string, string>([]);
