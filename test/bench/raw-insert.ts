import pg from 'pg';
import { newSubject, templateEventBody } from './template-event.js';

const ROWS = 1024;

/** Inserts batches of rows that are no more than an id and the bytes of an event. */
export interface RawInsert {
  /** Rows per second over so many batches, each durable before the next. */
  rate(batches: number): Promise<number>;
  close(): Promise<void>;
}

/** On a table of its own in this database, with the server's own durability. @param rows of one batch */
export async function openRawInsert(databaseUrl: string, rows = ROWS): Promise<RawInsert> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('CREATE TABLE public.raw_insert (id uuid PRIMARY KEY, body text NOT NULL)');
  const bodies = Array.from({ length: rows }, () => templateEventBody(newSubject()));
  const insert = `INSERT INTO public.raw_insert SELECT gen_random_uuid(), body FROM unnest($1::text[]) AS n(body)`;
  return {
    async rate(batches) {
      const begun = performance.now();
      for (let batch = 0; batch < batches; batch += 1) await client.query(insert, [bodies]);
      return (rows * batches) / ((performance.now() - begun) / 1000);
    },
    async close() {
      await client.query('DROP TABLE public.raw_insert');
      await client.end();
    },
  };
}
