import pg from 'pg';

const INT8 = 20;
const INT8_ARRAY = 1016;

/** int8 as bigint: sizes, indexes and counts are never rounded. Everything else as node-postgres reads it. */
export const rowTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return (text: string) => BigInt(text);
    if (oid === INT8_ARRAY) return (text: string) => text.slice(1, -1).split(',').filter(Boolean).map(BigInt);
    return pg.types.getTypeParser(oid, format as 'text');
  }) as pg.CustomTypesConfig['getTypeParser'],
};
