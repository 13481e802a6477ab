import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { heldFileReply, holdFile } from '../platform/http/held-file.js';
import type { Reply } from '../platform/http/route.js';

const POLICY = /http-equiv="Content-Security-Policy" content="([^"]+)"/;

/** Answers a request with a page, by the request's headers. */
export type PageReply = (headers: Readonly<Record<string, string | undefined>>) => Promise<Reply>;

/** A page that the build wrote, served from memory under the content security policy that the build wrote into it. */
export function builtPage(name: 'verify' | 'asset' | 'console'): PageReply {
  let held: ReturnType<typeof readPage> | undefined;
  return async (headers) => {
    held ??= readPage(`${name}.html`);
    const { page, policy } = await held;
    return heldFileReply(page, headers, policy);
  };
}

async function readPage(file: string) {
  const bytes = await readFile(join(builtFolder(), file));
  const [, policy] = POLICY.exec(bytes.toString('utf8')) ?? [];
  // Only a header can forbid other pages to frame this one.
  return { page: await holdFile(bytes, 'text/html; charset=utf-8'), policy: `${policy}; frame-ancestors 'none'` };
}

/** The build writes the pages; a service that runs from source serves those of the last build. */
function builtFolder(): string {
  const own = dirname(fileURLToPath(import.meta.url));
  const isBuilt = own.includes(join('dist', 'src'));
  return isBuilt ? join(own, '../console') : join(own, '../../dist/src/console');
}
