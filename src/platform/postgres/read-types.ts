import pg from 'pg';
import { parseJson } from '../../core/vcon/parse-json.js';

/** Object ids of json and jsonb. */
const JSON_TYPES: readonly number[] = [114, 3802];

function typeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return JSON_TYPES.includes(type) ? parseJson : pg.types.getTypeParser(type, format as 'text');
}

/** How the driver reads values: as it does by itself, but JSON by `parseJson`, because leaves are made of what is read. */
export const READ_TYPES = { getTypeParser: typeParser } as pg.CustomTypesConfig;
