import pg from 'pg';
import { parseJson } from '../../core/vcon/parse-json.js';

type Parser = (text: string) => unknown;

const BYTEA = 17;
/** By object id; the first two are json and jsonb. */
const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [114, parseJson],
  [3802, parseJson],
  [BYTEA, parseBytea],
]);

/** What stands for other bytes in the format `escape`, which a server may be set to. */
const ESCAPES = /\\\\|\\[0-3][0-7]{2}/g;
const parseEscaped: Parser = pg.types.getTypeParser(BYTEA);

/** @throws {Error} for a text of neither format of PostgreSQL. The driver's parser searches some of these for ever. */
function parseBytea(text: string): unknown {
  if (text.startsWith('\\x')) {
    const bytes = Buffer.from(text.slice(2), 'hex');
    if (text.length === 2 + 2 * bytes.length) return bytes;
  } else if (!text.replace(ESCAPES, '').includes('\\')) return parseEscaped(text);
  throw new Error('bytes in an answer of the database cannot be read');
}

function typeParser(type: number, format?: 'text' | 'binary'): Parser {
  return PARSERS.get(type) ?? pg.types.getTypeParser(type, format as 'text');
}

/**
 * How the driver reads values: as it does by itself, but JSON by `parseJson`, because leaves are made of what is read, and
 * bytes so that no answer can hold the process.
 */
export const READ_TYPES = { getTypeParser: typeParser } as pg.CustomTypesConfig;
