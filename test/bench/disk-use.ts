import pg from 'pg';

/** Bytes that a database keeps, indexes and all, for each of what it holds. */
export interface DiskUse {
  /** Places, nodes, seals and signatures of the logs. */
  readonly perLeaf: number;
  readonly perStatement: number;
  readonly perAssetEvent: number;
}

export async function diskUse(databaseUrl: string): Promise<DiskUse> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const per = async (counted: string, ...tables: string[]): Promise<number> => {
    const sizes = tables.map((table) => `pg_total_relation_size('archivist.${table}')`).join(' + ');
    const { rows } = await client.query(
      `SELECT (${sizes})::float8 / greatest(1, (SELECT count(*) FROM archivist.${counted})) AS bytes`,
    );
    return rows[0].bytes;
  };
  try {
    return {
      perLeaf: await per('leaf', 'leaf', 'node_page', 'seal', 'peak_receipt'),
      perStatement: await per('statement', 'statement'),
      perAssetEvent: await per('asset_event', 'asset_event'),
    };
  } finally {
    await client.end();
  }
}
