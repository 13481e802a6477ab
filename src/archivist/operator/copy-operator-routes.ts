import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { type Route, route } from '../../platform/http/route.js';
import type { Database } from '../../platform/postgres/database.js';

interface CopyOperatorDeps {
  readonly database: Database;
  /** Where a copy of the embedded database is put, on the disk of the database. */
  readonly copyFolder: string;
}

/** What `vcon-archivist backup` needs of a running service: an extension of the interface. */
export function copyOperatorRoutes({ database, copyFolder }: CopyOperatorDeps): Route[] {
  let copying = false;
  return [
    route({
      method: 'POST',
      path: '/archivist/operator/v1/database_copies',
      operationId: 'Operator_CopyDatabase',
      summary: 'Copy the files of the embedded database to a folder beside it; the next copy replaces it',
      access: 'operator',
      extension: true,
      success: 200,
      codes: [400, 401, 409],
      body: z.strictObject({}),
      response: z.object({ folder: z.string() }),
      handle: async () => {
        if (!database.copyFiles)
          throw new ApiError('conflict', 'This service uses a PostgreSQL server: set DATABASE_URL and read it there.');
        if (copying) throw new ApiError('conflict', 'Another copy is being made: try again when it has ended.');
        copying = true;
        try {
          await rm(copyFolder, { recursive: true, force: true });
          await database.copyFiles(copyFolder);
        } catch (error) {
          // If the copy has filled the disk, its part would keep the disk full.
          await rm(copyFolder, { recursive: true, force: true });
          throw error;
        } finally {
          copying = false;
        }
        return { body: { folder: copyFolder } };
      },
    }),
  ];
}
