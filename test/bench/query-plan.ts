import { SHARE } from './grown-events.js';

/** A documented query, as it is asked of a tenancy of any size. */
export interface Query {
  readonly name: string;
  readonly request: QueryRequest;
}

export type QueryRequest =
  | { readonly path: string; readonly exactTotal?: true; readonly anonymous?: true }
  | { readonly search: { readonly filter: string; readonly top: number; readonly skip?: number } };

/** What the tenancy holds that queries can be about. */
export interface Grown {
  readonly size: number;
  readonly subject: string;
  readonly publicSubject: string;
  readonly assetId: string;
  /** Of an asset-free event in the middle. */
  readonly ledgerEntry: { readonly index: string; readonly idtimestamp: string };
  /** Half-way through the events, and half-way through what every hundredth event is. */
  readonly pages: { readonly all: string; readonly share: string };
}

const EVENTS = '/archivist/v2/assets/-/events';
const PAGE = 'page_size=10';

const list = (base: string, parameter: string, value: string) =>
  `${base}?${PAGE}&${new URLSearchParams({ [parameter]: value })}`;

/** For one match, one percent and none: the number that stands for each. */
const MATCHES = { 'one match': 7, 'one percent': 7, 'an absent value': -1 } as const;

function listQueries(
  name: string,
  base: string,
  parameters: { readonly one: string; readonly share: string },
  texts: readonly [string, string],
): Query[] {
  return Object.entries(MATCHES).map(([matches, number]) => {
    const [parameter, text] = matches === 'one percent' ? [parameters.share, texts[1]] : [parameters.one, texts[0]];
    return { name: `${name}, ${matches}`, request: { path: list(base, parameter, `${text} ${number}`) } };
  });
}

/** Every documented query of lists and searches, for the matches that its filter can have. */
export function queriesOf({ size, subject, publicSubject, assetId, ledgerEntry, pages }: Grown): Query[] {
  const paged = (path: string, token: string) =>
    `${path}${path.includes('?') ? '&' : '?'}${PAGE}&page_token=${encodeURIComponent(token)}`;
  const search = (name: string, filter: string, skip?: number): Query => ({
    name: `search: ${name}`,
    request: { search: { filter, top: 10, ...(skip === undefined ? {} : { skip }) } },
  });
  const share = list(EVENTS, 'event_attributes.bench_share', 'share 7');
  return [
    ...listQueries(
      'events by event attribute',
      EVENTS,
      { one: 'event_attributes.bench_serial', share: 'event_attributes.bench_share' },
      ['serial', 'share'],
    ),
    {
      name: 'events by asset attribute, one match',
      request: { path: list(EVENTS, 'asset_attributes.bench_step', 'step 0') },
    },
    {
      name: 'events by asset attribute, one percent',
      request: { path: list(EVENTS, 'asset_attributes.bench_grade', 'examined') },
    },
    {
      name: 'events by asset attribute, an absent value',
      request: { path: list(EVENTS, 'asset_attributes.bench_grade', 'x') },
    },
    ...listQueries(
      'events by declared principal',
      EVENTS,
      { one: 'principal_declared.display_name', share: 'principal_declared.subject' },
      ['call', 'agent'],
    ),
    {
      name: 'events by accepted principal, an absent value',
      request: { path: list(EVENTS, 'principal_accepted.email', 'x') },
    },
    { name: 'events by operation, an absent value', request: { path: list(EVENTS, 'operation', 'x') } },
    { name: 'events of all assets, first page', request: { path: `${EVENTS}?${PAGE}` } },
    { name: 'events of all assets, a deep page', request: { path: paged(EVENTS, pages.all) } },
    { name: 'events by event attribute, one percent, a deep page', request: { path: paged(EVENTS, pages.share) } },
    { name: 'events by event attribute, one percent, exact count', request: { path: share, exactTotal: true } },
    { name: 'events of one asset', request: { path: `/archivist/v2/assets/${assetId}/events?${PAGE}` } },
    { name: 'timeline of a subject', request: { path: list(EVENTS, 'event_attributes.subject', subject) } },
    {
      name: 'public events of a subject',
      request: {
        path: list('/archivist/v2/publicassets/-/events', 'event_attributes.subject', publicSubject),
        anonymous: true,
      },
    },
    search('a trail, one match', "trails/any(t: t eq 'trail 7')"),
    search('a trail, one percent', "trails/any(t: t eq 'share 7')"),
    search('a trail, an absent value', "trails/any(t: t eq 'none')"),
    search('a trail, one percent, a deep page', "trails/any(t: t eq 'share 7')", Math.floor(size / SHARE / 2)),
    search('event type, one percent', "event_type eq 'type 7'"),
    search('event type, an absent value', "event_type eq 'none'"),
    search('creator, an absent value', "created_by eq 'none'"),
    search('created before a time, no match', 'created_at lt 1'),
    search('place in the log, one match', `ledger_entry/index eq ${ledgerEntry.index}`),
    search('idtimestamp, one match', `ledger_entry/idtimestamp eq '${ledgerEntry.idtimestamp}'`),
    search('a trail and not a type', "trails/any(t: t eq 'share 7') and not (event_type eq 'type 8')"),
  ];
}

const ASSETS = '/archivist/v2/assets';

export const ASSET_QUERIES: readonly Query[] = [
  ...listQueries('assets by attribute', ASSETS, { one: 'attributes.bench_serial', share: 'attributes.bench_share' }, [
    'serial',
    'share',
  ]),
  { name: 'assets, first page', request: { path: `${ASSETS}?${PAGE}` } },
];
