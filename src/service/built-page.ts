import { heldFileReply, holdFile } from '../platform/http/held-file.js';
import type { Reply } from '../platform/http/route.js';
import { keepMade } from '../platform/keep-made.js';
import { type BuiltPageName, readBuiltPage } from './built-pages.js';

const POLICY = /http-equiv="Content-Security-Policy" content="([^"]+)"/;

/** Answers a request with a page, by the request's headers. */
export type PageReply = (headers: Readonly<Record<string, string | undefined>>) => Promise<Reply>;

/** A page that the build wrote, served from memory under the content security policy that the build wrote into it. */
export function builtPage(name: Exclude<BuiltPageName, 'bundle'>): PageReply {
  const held = keepMade(() => readPage(name));
  return async (headers) => {
    const { page, policy } = await held();
    return heldFileReply(page, headers, { 'content-security-policy': policy });
  };
}

async function readPage(name: BuiltPageName) {
  const bytes = await readBuiltPage(name);
  const [, policy] = POLICY.exec(new TextDecoder().decode(bytes)) ?? [];
  // Only a header can forbid other pages to frame this one.
  return { page: await holdFile(bytes, 'text/html; charset=utf-8'), policy: `${policy}; frame-ancestors 'none'` };
}
