import type pg from 'pg';

/** The role that every connection of the service takes. Made by the first migration. */
export const SERVICE_ROLE = 'vcon_archivist_service';

/** Where names are looked up: our tables, then the queue's. */
export const SEARCH_PATH = 'archivist, bullmq, public';

/**
 * Refuses a role that row-level security does not bind: under it, isolation by tenancy would rest on the queries alone.
 * @throws {Error} naming the role
 */
export async function requireBoundRole(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; unbound: boolean }>(
    'SELECT rolname AS name, rolsuper OR rolbypassrls AS unbound FROM pg_roles WHERE rolname = current_user',
  );
  const role = rows[0];
  if (!role || role.unbound) {
    throw new Error(
      `The database role ${role?.name ?? '(unknown)'} bypasses row-level security; the service refuses to run as it. ` +
        `Connections must run as ${SERVICE_ROLE}.`,
    );
  }
}
