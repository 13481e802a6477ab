import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type HeldFile, heldFileReply, holdFile } from '../../platform/http/held-file.js';
import { type Route, route } from '../../platform/http/route.js';
import { keepMade } from '../../platform/keep-made.js';

const TYPES: Readonly<Record<string, string>> = {
  'reference.html': 'text/html; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};
const PAGE = 'reference.html';
const FILES = Object.keys(TYPES).filter((name) => name !== PAGE) as [string, ...string[]];

/** The page runs only our scripts and connects only to this service. Swagger UI draws its icons from data URLs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * `/docs`: the API reference as a page, rendered in the browser by Swagger UI from `/openapi.json`. Of the tools we
 * tried, it is the one that works under this content security policy and loads nothing from elsewhere.
 */
export function apiReferenceRoutes(): Route[] {
  const held = new Map(Object.keys(TYPES).map((name) => [name, keepMade(() => read(name))]));
  const shared = { method: 'GET', access: 'public', extension: true, success: 200 } as const;
  const answer = async (name: string, headers: Readonly<Record<string, string | undefined>>) =>
    heldFileReply(await held.get(name)!(), headers, { 'content-security-policy': CONTENT_SECURITY_POLICY });
  return [
    route({
      ...shared,
      path: '/docs',
      operationId: 'Docs_Page',
      summary: 'Show the API reference',
      codes: [304],
      rawResponse: 'text/html',
      handle: ({ headers }) => answer(PAGE, headers),
    }),
    route({
      ...shared,
      path: '/docs/:file',
      operationId: 'Docs_File',
      summary: 'Get a script or style sheet of the API reference',
      codes: [304, 404],
      params: z.object({ file: z.enum(FILES) }),
      rawResponse: ['text/javascript', 'text/css'],
      handle: ({ params, headers }) => answer(params.file, headers),
    }),
  ];
}

async function read(name: string): Promise<HeldFile> {
  return holdFile(await readFile(join(folderOf(name), name)), TYPES[name]!);
}

/** The build copies Swagger UI's files next to ours; when run from source, they are in the development package. */
function folderOf(name: string): string {
  const own = dirname(fileURLToPath(import.meta.url));
  if (!name.startsWith('swagger-ui') || own.includes(join('dist', 'src'))) return own;
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}
