import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, it, vi } from 'vitest';
import { apiReferenceRoutes } from '../../src/service/api-reference/api-reference-routes.js';
import { builtPage } from '../../src/service/built-page.js';
import { bundlePageReader } from '../../src/service/built-pages.js';

const FULL = Object.assign(new Error('too many open files'), { code: 'EMFILE' });

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const page = builtPage('console');
const [reference] = apiReferenceRoutes();

it.each([
  ['a page of the console', () => page({})],
  ['the page of evidence bundles', bundlePageReader()],
  ['the API reference', () => reference!.handle({ headers: {} } as never)],
])('%s is read again after its file could not be opened', async (_, read: () => Promise<unknown>) => {
  const opening = vi.spyOn(files, 'readFile').mockRejectedValue(FULL);
  syncBuiltinESMExports();
  await expect(read()).rejects.toBe(FULL);
  opening.mockRestore();
  syncBuiltinESMExports();
  await expect(read()).resolves.toBeDefined();
});
