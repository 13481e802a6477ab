import type { Tx } from '../../platform/postgres/database.js';

/** What the database runs or enforces by itself, and the SHA-256 of how it was made, in hexadecimal digits. */
interface SchemaPart {
  readonly name: string;
  readonly digest: string;
}

/**
 * The functions, triggers, rules, policies and row-level security of our schema. Policies that are made in the same way for
 * many tables are one part, whose name has the number of the tables.
 */
export function schemaParts(tx: Tx): Promise<SchemaPart[]> {
  return tx.query<SchemaPart>(
    `WITH ours AS (SELECT oid, relname, concat_ws(' ', relrowsecurity, relforcerowsecurity) AS secured
                     FROM pg_class WHERE relnamespace = 'archivist'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')),
          parts (name, made) AS (
       SELECT format('function %s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
              concat_ws(' ', pg_get_function_result(p.oid), l.lanname, p.provolatile, p.proisstrict, p.proparallel,
                        p.prosecdef, p.proconfig, nullif(r.rolname, 'vcon_archivist_search') IS NULL, p.prosrc)
         FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_roles r ON r.oid = p.proowner
        WHERE p.pronamespace = 'archivist'::regnamespace
       UNION ALL
       SELECT format('trigger %s of %s', t.tgname, o.relname), concat_ws(' ', t.tgenabled, t.tgtype, t.tgattr, t.tgfoid::regproc)
         FROM pg_trigger t JOIN ours o ON o.oid = t.tgrelid
        WHERE NOT t.tgisinternal
       UNION ALL
       SELECT format('rule %s of %s', r.rulename, o.relname), pg_get_ruledef(r.oid)
         FROM pg_rewrite r JOIN ours o ON o.oid = r.ev_class
       UNION ALL
       SELECT format('policy %s of %s tables', each.polname, count(*)), each.made
         FROM (SELECT p.polname, concat_ws(' ', p.polcmd, p.polpermissive, p.polroles::regrole[], pg_get_expr(p.polqual, o.oid),
                                           'check', pg_get_expr(p.polwithcheck, o.oid)) AS made
                 FROM pg_policy p JOIN ours o ON o.oid = p.polrelid) each
        GROUP BY each.polname, each.made
       UNION ALL
       SELECT format('row-level security of %s tables', count(*)), secured FROM ours GROUP BY secured)
     SELECT name, encode(sha256(convert_to(made, 'UTF8')), 'hex') AS digest
       FROM parts ORDER BY name COLLATE "C", made COLLATE "C"`,
  );
}

/** The name of the last migration that the database has had; undefined if it has had none. */
export async function lastMigration(tx: Tx): Promise<string | undefined> {
  const [row] = await tx.query<{ name: string }>(
    'SELECT m.name FROM archivist.schema_migration m ORDER BY m.name COLLATE "C" DESC LIMIT 1',
  );
  return row?.name;
}
