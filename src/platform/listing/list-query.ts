import { z } from 'zod';
import { ApiError } from '../errors.js';
import type { PageTokens } from '../postgres/page-token.js';
import { dottedName } from './dotted-name.js';

/** Filters sorted by name, so that equal queries have equal text. */
export type Filters = readonly (readonly [string, string])[];

export interface ListQuery {
  readonly filters: Filters;
  readonly pageSize: number;
  /** The last id of the previous page. */
  readonly after?: string;
}

const DEFAULT_PAGE_SIZE = 100;
/** The server's result limit (docs/design/interface.md#lists), also the largest page. */
export const RESULT_LIMIT = 1000;
const MAX_FILTERS = 32;
const MAX_VALUE = 4096;
/**
 * Of all filters as JSON. A page token contains them and is a third longer, clients may repeat them beside it, and a request
 * has room for 32 KiB of address and headers.
 */
const MAX_FILTER_BYTES = 12 * 1024;
const PAGING = new Set(['page_size', 'page_token']);
/** Enumerations, times and numbers: clients send every filter of a form, and an empty one of these can only mean none. */
const NEVER_EMPTY =
  /^(tracked|confirmation_status|minimum_trust|proof_mechanism|privacy|order_by|chain_id|mmr_index|member_state|status|(\w+_)?(since|before|at))$/;

const PAGE_PARAMETERS = {
  page_size: z
    .string()
    .optional()
    .meta({
      type: 'integer',
      minimum: 0,
      description: `Entries per page; default ${DEFAULT_PAGE_SIZE}, or as before with a page_token. More than ${RESULT_LIMIT} counts as ${RESULT_LIMIT}, and 0 as ${DEFAULT_PAGE_SIZE}`,
    }),
  page_token: z.string().optional().meta({ description: '`next_page_token` of the previous page' }),
};

const ALTERNATIVES = {
  any: z
    .unknown()
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string', pattern: '^[^=]+=' },
      description:
        'Filters such as `name=value`: an entry must match at least one of them. `any.2` and other names make further groups, which must match too.',
    }),
};

/**
 * The query of a list for the API description: paging, these filters, and prefixes of filters by attribute. Values are
 * checked by `readListQuery` and by the list's own conditions, so this schema refuses none.
 * @param values the accepted values of a filter, if there are few
 */
export function listQuerySchema(filters: readonly string[], { attributes = [], values = {} }: ListDescription = {}) {
  const named = filters.map((name) => [name, z.unknown().optional().meta(filterMeta(name, values[name]))]);
  const parameters = { ...PAGE_PARAMETERS, ...Object.fromEntries(named) };
  if (attributes.length === 0) return z.looseObject(parameters);
  return z.looseObject({ ...parameters, ...ALTERNATIVES }).meta({ 'x-attribute-filters': attributes });
}

export interface ListDescription {
  /** Prefixes such as `attributes.` */
  readonly attributes?: readonly string[];
  readonly values?: Readonly<Record<string, readonly string[]>>;
}

function filterMeta(name: string, values: readonly string[] | undefined): Record<string, unknown> {
  if (values) return { type: 'string', enum: [...values] };
  if (/^(\w+_)?(since|before|at)$/.test(name)) return { type: 'string', format: 'date-time' };
  return name === 'mmr_index' ? { type: 'string', pattern: '^\\d{1,18}$' } : { type: 'string' };
}

/**
 * Reads a list's query. A page token contains the filters of its first page and the size of the last one. The request may
 * repeat the same filters, and ask for another size.
 * @param list names list and caller, so that a token of one list is refused by another
 * @throws {ApiError} bad_request naming the parameter
 */
export function readListQuery(query: Readonly<Record<string, unknown>>, list: string, tokens: PageTokens): ListQuery {
  const filters = readFilters(query);
  const asked = readPageSize(single(query['page_size'], 'page_size'));
  const token = single(query['page_token'], 'page_token');
  if (token === undefined || token === '') return { filters, pageSize: asked ?? DEFAULT_PAGE_SIZE };
  const page = openToken(token, list, tokens);
  if (filters.length > 0 && JSON.stringify(filters) !== JSON.stringify(page.filters)) {
    throw otherList();
  }
  return { filters: page.filters, pageSize: asked ?? page.pageSize, after: page.after };
}

/** The token of the page that follows this id. */
export function nextPageToken(list: string, query: ListQuery, lastId: string, tokens: PageTokens): string {
  return tokens.seal({ list, filters: query.filters, pageSize: query.pageSize, after: lastId });
}

interface SealedPage {
  readonly list: string;
  readonly filters: Filters;
  readonly pageSize: number;
  readonly after: string;
}

function openToken(token: string, list: string, tokens: PageTokens): SealedPage {
  const page = tokens.open(token) as SealedPage;
  if (page.list !== list) throw otherList();
  return page;
}

function readFilters(query: Readonly<Record<string, unknown>>): Filters {
  const filters: [string, string][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (PAGING.has(name)) continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === '' && NEVER_EMPTY.test(name)) continue;
      if (typeof each !== 'string' || each.length > MAX_VALUE)
        throw new ApiError('bad_request', `${name}: must be text of at most ${MAX_VALUE} characters`);
      filters.push([dottedName(name), each]);
    }
  }
  if (filters.length > MAX_FILTERS) throw new ApiError('bad_request', `at most ${MAX_FILTERS} filters are supported`);
  if (Buffer.byteLength(JSON.stringify(filters)) > MAX_FILTER_BYTES)
    throw new ApiError(
      'bad_request',
      `the filters have more than ${MAX_FILTER_BYTES} bytes together, and the address of the next page would be too long: send fewer or shorter filters`,
    );
  return filters.sort((left, right) => (left.join('=') < right.join('=') ? -1 : 1));
}

function readPageSize(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (!/^\d+$/.test(text)) throw new ApiError('bad_request', 'page_size: must be a whole number of entries');
  return Math.min(Number(text) || DEFAULT_PAGE_SIZE, RESULT_LIMIT);
}

function single(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new ApiError('bad_request', `${name}: must be given once`);
}

function otherList(): ApiError {
  return new ApiError(
    'bad_request',
    'page_token: belongs to another list or to other filters; send the parameters of the request that returned it',
  );
}
