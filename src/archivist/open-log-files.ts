import type { Feature } from '../platform/feature.js';
import type { ObjectStore } from '../platform/object-store.js';
import { logFileRoutes } from './log-file-routes.js';
import { logFileReaders } from './log-files.js';
import type { ReadDeps } from './read-scope.js';

interface LogFilesBase extends ReadDeps {
  readonly objectStore: ObjectStore;
  readonly publicUrl: string;
}

/**
 * Massifs and seals.
 * @param readableBy who may read them: everybody, or members their own log and the public one
 */
export function openLogFiles(
  { database, deployment, objectStore, publicUrl }: LogFilesBase,
  readableBy: 'public' | 'members',
): Feature {
  const readers = logFileReaders({ database, objectStore });
  const onlyMembersAnd = readableBy === 'members' ? deployment.publicTenancy : undefined;
  return { routes: { 'v1/verifiabledata': logFileRoutes({ database, publicUrl, ...readers, onlyMembersAnd }) } };
}
