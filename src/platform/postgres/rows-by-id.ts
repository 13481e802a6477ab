/**
 * The part of a statement that reads rows by tenancy ($1) and id ($2), two arrays of the same length: it begins with FROM,
 * ends in its condition, and knows each address as `wanted`, with its `place` in the arrays. One look-up per address, by the
 * index that has the ids of a tenancy in order. By equality, the planner could just as well read all rows of the tenancy
 * by an index that has the id behind another column: a plan that was made while the table was small did so ever after.
 * Without the upper bound, it read and sorted all rows with greater ids where it expected only two. The transaction must
 * be able to read the tenancies: rows of others would be passed over one by one.
 * @param as what the statement calls a row
 */
export function rowsById(table: string, id: string, as: string, type: 'uuid' | 'bytea' = 'uuid'): string {
  return `FROM unnest($1::uuid[], $2::${type}[]) WITH ORDINALITY AS wanted(tenant_id, id, place) CROSS JOIN LATERAL (
         SELECT * FROM archivist.${table} WHERE tenant_id = wanted.tenant_id AND ${id} >= wanted.id AND ${id} <= wanted.id
          ORDER BY ${id} LIMIT 1) AS ${as}
      WHERE ${as}.${id} = wanted.id`;
}
