import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HeldFile, heldFileReply, holdFile } from '../platform/http/held-file.js';
import { type Route, route } from '../platform/http/route.js';

const POLICY = /http-equiv="Content-Security-Policy" content="([^"]+)"/;

/**
 * `/verify`: the verifier as a page. It is one file, so that the reader may save it, and the same file for every service
 * of this version: it names no operator and asks no server. The build writes its content security policy into it.
 */
export function verifyPageRoutes(): Route[] {
  let held: Promise<{ readonly page: HeldFile; readonly policy: string }> | undefined;
  return [
    route({
      method: 'GET',
      path: '/verify',
      operationId: 'Verify_Page',
      summary: 'Show the page that checks evidence in the browser',
      access: 'public',
      extension: true,
      success: 200,
      codes: [304],
      rawResponse: 'text/html',
      handle: async ({ headers }) => {
        held ??= readPage();
        const { page, policy } = await held;
        return heldFileReply(page, headers, policy);
      },
    }),
  ];
}

async function readPage() {
  const bytes = await readFile(join(builtFolder(), 'verify.html'));
  const [, policy] = POLICY.exec(bytes.toString('utf8')) ?? [];
  // Only a header can forbid other pages to frame this one.
  return { page: await holdFile(bytes, 'text/html; charset=utf-8'), policy: `${policy}; frame-ancestors 'none'` };
}

/** The build writes the page; a service that runs from source serves the last build's. */
function builtFolder(): string {
  const own = dirname(fileURLToPath(import.meta.url));
  const isBuilt = own.includes(join('dist', 'src'));
  return isBuilt ? join(own, '../console') : join(own, '../../dist/src/console');
}
