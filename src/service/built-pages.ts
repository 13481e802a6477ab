import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, deflateRawSync } from 'node:zlib';
import { cutEvidencePage } from '../core/bundle/evidence-page.js';
import type { PageTemplate } from '../core/bundle/zip-bundle.js';
import { ifThere } from '../platform/if-there.js';
import { keepMade } from '../platform/keep-made.js';

/** The pages that the build writes, each one file. */
export type BuiltPageName = 'verify' | 'asset' | 'console' | 'logs' | 'bundle';

/** The build writes the pages; a program that runs from source reads those of the last build. */
function builtFolder(): string {
  const own = dirname(fileURLToPath(import.meta.url));
  const isBuilt = own.includes(join('dist', 'src'));
  return isBuilt ? join(own, '../console') : join(own, '../../dist/src/console');
}

/** Reads a page. @throws the file system's error when there was no build */
export function readBuiltPage(name: BuiltPageName): Promise<Uint8Array> {
  return readFile(join(builtFolder(), `${name}.html`));
}

/** Reads the page of bundles as the build made it; undefined where there was no build. */
export function readBundlePage(): Promise<Uint8Array | undefined> {
  return ifThere(readBuiltPage('bundle'));
}

/** Returns what reads the page of bundles and compresses it once; it answers undefined where there was no build. */
export function bundlePageReader(): () => Promise<PageTemplate | undefined> {
  return keepMade(async () => {
    const built = await readBundlePage();
    return built && pageTemplate(built);
  });
}

function pageTemplate(built: Uint8Array): PageTemplate {
  const page = cutEvidencePage(built);
  if (!page) throw new Error('the page of bundles has no place for evidence: build the pages again');
  // fflate's own flush leaves some streams broken.
  const deflatedHead = deflateRawSync(page.head, { level: 9, finishFlush: constants.Z_SYNC_FLUSH });
  return { head: page.head, tail: page.tail, deflatedHead };
}
