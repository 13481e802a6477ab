/** What a reader searches for. It is kept in the address bar. */
export interface SearchQuery {
  readonly text: string;
  /** A `vcon_operation`; empty for all. */
  readonly operation: string;
  /** First and last day in the reader's zone, as `2026-01-31`; empty for no limit. */
  readonly since: string;
  readonly until: string;
  /** A `confirmation_status`; empty for all. */
  readonly status: string;
  /** A conserver's chain, and the name or type of a link in it, as the conserver calls them; empty for all. */
  readonly chain: string;
  readonly link: string;
  /** The `partner` of an event or of its asset; empty for all. */
  readonly partner: string;
  /** Digests of a file's forms in hex. */
  readonly hashes: readonly string[];
}

/** A list of the interface, newest first, or one event. */
export interface Source {
  /** Of its first page. */
  readonly path: string;
  readonly isList: boolean;
  /** Events of each later page of a list; as many as of the first one if this is not said. */
  readonly laterPages?: number;
}

/** Events that a search shows at once. */
export const FOUND_AT_ONCE = 25;
/** Events of a conversation that are shown first, while the others are read. */
export const TIMELINE_FIRST = 100;
/** Events of each later request; the service answers no more at once. */
const TIMELINE_LATER = 1000;

const ASSETS = '/archivist/v2/assets';
const ASSET_FREE = '/archivist/v1/events';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EVENT = /^(?:public)?assets[/_]([0-9a-f-]{36})[/_]events[/_]([0-9a-f-]{36})$/;
const DIGEST = /^(?:sha-?256:)?([0-9a-f]{64})$/;
const LABEL = /^[A-Za-z_][\w.-]*=\S/;
/**
 * Before a label that follows another one, whose value may have spaces. Only the last space: a pattern for all of them takes
 * seconds for a hundred thousand.
 */
const NEXT_LABEL = /\s(?=[A-Za-z_][\w.-]*=\S)/;
/** Attributes in which a text without a name is searched. */
const NAMED = ['subject', 'call_id', 'case_id', 'partner', 'arc_display_type'];
/** Attributes whose values the conserver's plugin percent-encodes. */
const ENCODED = ['conserver_chain', 'conserver_link_name'];
/** Names of an event without an asset that are no attributes, with those that its list gives them. */
const ASSET_FREE_NAMES: Readonly<Record<string, string>> = {
  trail: 'trails',
  event_type: 'event_type',
  created_by: 'created_by',
};
const OF_ASSET = ['arc_display_name', 'call_id', 'case_id', 'partner', 'arc_display_type'];
/** Attributes that name a conversation: its own, and the first one of its history. */
const SUBJECTS = ['subject', 'vcon_history'];
const DIGESTS = ['payload', 'payload_jcs_sha256', 'payload_innermost_sha256'];

/** Reads a query from the address bar; what it does not know is ignored. */
export function readQuery(parameters: URLSearchParams): SearchQuery {
  const of = (name: string) => parameters.get(name) ?? '';
  return {
    text: of('q'),
    operation: of('operation'),
    since: of('since'),
    until: of('until'),
    status: of('status'),
    chain: of('chain'),
    link: of('link'),
    partner: of('partner'),
    hashes: parameters.getAll('hash'),
  };
}

const NOTHING = readQuery(new URLSearchParams());

/** The query for the address bar, without members that say nothing. */
export function writeQuery({ text, hashes, ...filters }: SearchQuery): string {
  const members = { q: text, ...filters };
  const given = Object.entries(members).filter(([, value]) => value !== '');
  return String(new URLSearchParams([...given, ...hashes.map((hash): [string, string] => ['hash', hash])]));
}

/** Whether something besides its text or file narrows the answer. */
export function isFiltered({ text: _, hashes: __, ...filters }: SearchQuery): boolean {
  return Object.values(filters).some((value) => value !== '');
}

/**
 * The requests that find it: an event belongs to the answer if any of them finds it.
 * @param pageSize how many events a list answers at once
 */
export function sourcesOf(query: SearchQuery, pageSize: number): Source[] {
  const shared: Label[] = [...filtersOf(query), ['page_size', String(pageSize)]];
  const filters = [...shared, ...partnerOf(query, ['event_attributes', 'asset.attributes'])];
  const ofAssetFree = [...shared, ...partnerOf(query, ['event_attributes'])];
  const events = (...asked: readonly Label[]): Source => list(`${ASSETS}/-/events`, [...asked, ...filters]);
  const assetFree = (...asked: readonly Label[]): Source => list(ASSET_FREE, [...asked, ...ofAssetFree]);
  const both = (labels: readonly Label[]) => [events, assetFree].map((of) => of(...anyOf(labels)));
  const text = query.text.trim();
  if (query.hashes.length > 0) return both(query.hashes.flatMap((hash) => eachOf(DIGESTS, hash)));
  if (text === '') return [events(), assetFree()];
  const plain = text.toLowerCase().replace(/^vcon:\/\//, '');
  const [, asset, event] = EVENT.exec(plain) ?? [];
  if (asset !== undefined) return [{ path: `${ASSETS}/${asset}/events/${event}`, isList: false }];
  const digest = DIGEST.exec(plain)?.[1];
  if (digest !== undefined) return both(eachOf(DIGESTS, digest));
  const uuid = plain.replace(/^(?:assets|events)\//, '');
  if (UUID.test(uuid)) {
    const named = eachOf(SUBJECTS, `vcon://${uuid}`);
    const trails = [uuid, `vcon://${uuid}`].map((trail): Label => ['trails', trail]);
    return [
      events(...anyOf(named)),
      assetFree(...anyOf([...named, ...trails])),
      list(`${ASSETS}/${uuid}/events`, filters),
      { path: `${ASSET_FREE}/${uuid}`, isList: false },
    ];
  }
  const labels = text.split(NEXT_LABEL).map((label) => label.trimEnd());
  if (labels.every((label) => LABEL.test(label))) {
    const pairs = labels.map(labelOf);
    const named = (place: string) => pairs.map(([name, value]): Label => [`${place}.${name}`, value]);
    return [
      events(...named('event_attributes')),
      events(...named('asset.attributes')),
      assetFree(...pairs.map(assetFreeLabel)),
    ];
  }
  const named = [...eachOf(NAMED, text), ...ENCODED.flatMap((name) => spellings(name, text))];
  const ofAsset = OF_ASSET.map((name): Label => [`asset.attributes.${name}`, text]);
  const without = Object.values(ASSET_FREE_NAMES).map((name): Label => [name, text]);
  return [events(...anyOf([...named, ...ofAsset])), assetFree(...anyOf([...named, ...without]))];
}

/**
 * The lists of all events of a conversation: those that name it, events without an asset on its trail, and, with its
 * history, those of what it became.
 */
export function sourcesOfSubject(subject: string, withHistory: boolean): Source[] {
  const named = eachOf(withHistory ? SUBJECTS : SUBJECTS.slice(0, 1), subject);
  const size: Label = ['page_size', String(TIMELINE_FIRST)];
  return [
    list(`${ASSETS}/-/events`, [...anyOf(named), size]),
    list(ASSET_FREE, [...anyOf([...named, ['trails', subject]]), size]),
  ].map(withLaterPages);
}

/** The lists of all events of an asset, or an event, by its id. @param at only what was accepted until this time */
export function sourcesOfId(id: string, at?: string): Source[] {
  const sources = sourcesOf({ ...NOTHING, text: id }, TIMELINE_FIRST).map(withLaterPages);
  if (at === undefined) return sources;
  const until = new URLSearchParams({ timestamp_accepted_before: justAfter(at) });
  return sources.filter(({ isList }) => isList).map((source) => ({ ...source, path: `${source.path}&${until}` }));
}

/** The service writes times in milliseconds. What is no time is left to its refusal. */
function justAfter(time: string): string {
  const unixMs = Date.parse(time);
  return Number.isNaN(unixMs) ? time : new Date(unixMs + 1).toISOString();
}

const withLaterPages = (source: Source): Source => ({ ...source, laterPages: TIMELINE_LATER });

/** The path of the page that this token of the page before leads to. A token contains the filters of its list. */
export function laterPage({ path, laterPages }: Source, token: string): string {
  const { pathname, searchParams } = new URL(path, 'http://service');
  const size = laterPages === undefined ? searchParams.get('page_size')! : String(laterPages);
  return `${pathname}?${new URLSearchParams({ page_size: size, page_token: token })}`;
}

/** A name and a value. */
type Label = readonly [string, string];

/** The same value of each of these attributes of an event. */
const eachOf = (names: readonly string[], value: string): Label[] =>
  names.map((name) => [`event_attributes.${name}`, value]);

/** An attribute with this value, as it is or as the conserver's plugin writes it. */
const spellings = (name: string, value: string): Label[] =>
  [...new Set([value, percentEncoded(value)])].map((each) => [`event_attributes.${name}`, each]);

/** All but RFC 3986's unreserved characters. */
const percentEncoded = (value: string): string =>
  encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** What has one of these labels. */
const anyOf = (labels: readonly Label[], group = 'any'): Label[] =>
  labels.map(([name, value]) => [group, `${name}=${value}`]);

const labelOf = (text: string): Label => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];

const assetFreeLabel = ([name, value]: Label): Label => [
  Object.hasOwn(ASSET_FREE_NAMES, name) ? ASSET_FREE_NAMES[name]! : `event_attributes.${name}`,
  value,
];

const list = (path: string, filters: readonly Label[]): Source => ({
  path: `${path}?${new URLSearchParams(filters.map(([name, value]): [string, string] => [name, value]))}`,
  isList: true,
});

function filtersOf({ operation, since, until, status, chain, link }: SearchQuery): Label[] {
  const recorded = (value: string, names: readonly string[], group: string) =>
    value.trim() === ''
      ? []
      : anyOf(
          names.flatMap((name) => spellings(name, value.trim())),
          group,
        );
  const filters: (readonly [string, string | undefined])[] = [
    ...recorded(chain, ['conserver_chain'], 'any.chain'),
    ...recorded(link, ['conserver_link_name', 'conserver_link'], 'any.link'),
    ['event_attributes.vcon_operation', operation || undefined],
    ['timestamp_accepted_since', startOf(since, 0)],
    ['timestamp_accepted_before', startOf(until, 1)],
    ['confirmation_status', status || undefined],
  ];
  return filters.filter((filter): filter is Label => filter[1] !== undefined);
}

function partnerOf({ partner }: SearchQuery, places: readonly string[]): Label[] {
  const value = partner.trim();
  if (value === '') return [];
  return anyOf(
    places.map((place): Label => [`${place}.partner`, value]),
    'any.partner',
  );
}

/** When a day begins in the reader's zone, or a number of days later; undefined for a text that is no day. */
function startOf(day: string, later: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}
