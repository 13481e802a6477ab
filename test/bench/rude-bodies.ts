import { encodeCbor } from '../../src/core/cose/cbor.js';
import { ALGORITHMS, sampleDigest, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import type { HttpRequest } from './http-client.js';
import type { ServiceUnderTest } from './service-under-test.js';

/** A kind of request of legal size that costs its reader as much as such a request can. */
export interface RudeBody {
  readonly kind: string;
  /** Makes one; each is new to the service. */
  make(service: ServiceUnderTest): HttpRequest;
}

const MIB = 1024 * 1024;
/** Below the limits of a body, of the values in one, and of the values in a set of attributes. */
const BODY = MIB - 2048;
const BULK = 8 * MIB - 64 * 1024;
const VALUES = 9_900;
const ATTRIBUTES = 4_096;
const BULK_EVENTS = 1_000;
const STATEMENT = 65_000;
const BLOB = 32 * MIB;

const HEADER_OF_PADDING = -70_000;

let made = 0;

const attributes = (count: number, bytes: number): Record<string, string> => {
  made += 1;
  const text = String(made).padEnd(Math.max(1, Math.floor(bytes / count) - 16), 'é"\\');
  return Object.fromEntries(
    Array.from({ length: count }, (_, place) => [`name${place}`, text.slice(0, bytes / count / 3)]),
  );
};
const event = (event_attributes: unknown, more: object = {}) => ({
  operation: 'Record',
  behaviour: 'RecordEvidence',
  event_attributes,
  ...more,
});
const list = <Item>(length: number, make: (place: number) => Item): Item[] =>
  Array.from({ length }, (_, place) => make(place));

const post = (path: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array): HttpRequest => ({
  method: 'POST',
  path,
  headers,
  body,
});
const json = (path: (service: ServiceUnderTest) => string, body: () => unknown): RudeBody['make'] => {
  return (service) => post(path(service), service.headers, JSON.stringify(body()));
};
const toAsset = ({ target }: ServiceUnderTest): string => `/archivist/v2/assets/${target.assets[0]!.assetId}/events`;
const bulkToAsset = (service: ServiceUnderTest): string => `${toAsset(service)}:bulk`;
const toAssets = (): string => '/archivist/v2/assets';
const toSearch = (): string => '/archivist/v1/events/search';

/** Events and assets, whole and refused. */
const OF_JSON: readonly RudeBody[] = [
  { kind: 'an event with a text of a megabyte', make: json(toAsset, () => event({ text: 'é"'.repeat(BODY / 5) })) },
  {
    kind: 'an event with 8,192 values',
    make: json(toAsset, () =>
      event(attributes(ATTRIBUTES, BODY / 3), { asset_attributes: attributes(ATTRIBUTES, BODY / 3) }),
    ),
  },
  {
    kind: 'an asset with 4,096 values',
    make: json(toAssets, () => ({ attributes: attributes(ATTRIBUTES, BODY / 2) })),
  },
  {
    kind: 'an event with 9,900 unknown members',
    make: json(toAsset, () => event({}, Object.fromEntries(list(VALUES, (place) => [`unknown${place}`, place])))),
  },
  { kind: 'an event with 9,900 numbers', make: json(toAsset, () => event({ list: list(VALUES, (place) => place) })) },
  {
    kind: 'a list of 9,900 wrong members',
    make: json(toAssets, () => ({ attributes: {}, behaviours: list(VALUES, () => 0) })),
  },
  {
    kind: 'a bulk of 1,000 events, 90 values each',
    make: json(bulkToAsset, () => ({ events: list(BULK_EVENTS, () => event(attributes(90, BULK / BULK_EVENTS / 2))) })),
  },
  {
    kind: 'a bulk of 7 events of a megabyte',
    make: json(bulkToAsset, () => ({ events: list(7, () => event(attributes(ATTRIBUTES, BODY))) })),
  },
  {
    kind: 'a bulk of 1,000 wrong events',
    make: json(bulkToAsset, () => ({ events: list(BULK_EVENTS, () => ({ operation: list(90, () => 0) })) })),
  },
  { kind: 'a bulk of one text of 8 megabytes', make: json(bulkToAsset, () => ({ events: ['x'.repeat(BULK)] })) },
  { kind: 'an object with one text of 8 megabytes', make: json(bulkToAsset, () => ({ text: 'x'.repeat(BULK) })) },
];

/** Searches and policies. */
const OF_FILTERS: readonly RudeBody[] = [
  {
    kind: 'a search with 128 comparisons',
    make: json(toSearch, () => ({ filter: list(128, (place) => `event_type eq 'name${place}'`).join(' or ') })),
  },
  {
    kind: 'a search of 8,192 characters',
    make: json(toSearch, () => ({ filter: `event_type eq '${"''".repeat(4_080)}'` })),
  },
  { kind: 'a search 2,700 levels deep', make: json(toSearch, () => ({ filter: 'not('.repeat(2_000) })) },
  {
    kind: 'a policy with 128 filters of 8,000 characters',
    make: json(
      () => '/archivist/v1/compliance_policies',
      () => ({
        compliance_type: 'COMPLIANCE_RICHNESS',
        display_name: 'rude',
        asset_filter: list(120, (place) => ({ or: [`attributes.name${place}=${'x'.repeat(4_000)}`] })),
        richness_assertions: list(100, (place) => ({ or: [`name${place}=${'y'.repeat(4_000)}`] })),
      }),
    ),
  },
];

const padded = (padding: unknown): Uint8Array => {
  made += 1;
  const headers = new Map([[HEADER_OF_PADDING, padding as never]]);
  return sampleStatement(sampleIssuer(), { headers, payload: sampleDigest(`rude ${process.pid} ${made}`) });
};
const cbor = (path: string, type: string, body: () => Uint8Array): RudeBody['make'] => {
  return ({ headers }) => post(path, { ...headers, 'content-type': type, prefer: 'wait=20' }, body());
};
const bulkOf = (count: number, padding: () => unknown): RudeBody['make'] =>
  cbor('/entries:bulk', 'application/cbor', () => encodeCbor(list(count, () => padded(padding()))));

/** Statements. */
const OF_CBOR: readonly RudeBody[] = [
  {
    kind: 'a statement with 4,000 values',
    make: cbor('/entries', 'application/cose', () => padded(list(4_000, (place) => `${place}`.padEnd(14)))),
  },
  {
    kind: 'a statement with an RSA signature',
    make: cbor('/entries', 'application/cose', () => sampleStatement(sampleIssuer(ALGORITHMS.PS512), {})),
  },
  { kind: 'a bulk of 1,000 statements of 8 KB', make: bulkOf(BULK_EVENTS, () => new Uint8Array(7_500)) },
  { kind: 'a bulk of 1,000 statements, 3,500 values each', make: bulkOf(BULK_EVENTS, () => list(3_500, () => 0)) },
  { kind: 'a bulk of 120 statements of 64 KB', make: bulkOf(120, () => new Uint8Array(STATEMENT)) },
  {
    kind: 'a bulk that is 8 megabytes of zeros',
    make: cbor('/entries:bulk', 'application/cbor-seq', () => new Uint8Array(BULK)),
  },
];

const BOUNDARY = 'rude-boundary';

/** Uploads and forms. */
const OF_FORMS: readonly RudeBody[] = [
  {
    kind: 'a blob of 32 megabytes',
    make: ({ headers }) => {
      const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`;
      const body = Buffer.concat([
        Buffer.from(head),
        Buffer.alloc(BLOB, 'text '),
        Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
      ]);
      return post(
        '/archivist/v1/blobs',
        { ...headers, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        body,
      );
    },
  },
  {
    kind: 'a form of 8,000 fields',
    make: () =>
      post(
        '/archivist/iam/v1/appidp/token',
        { 'content-type': 'application/x-www-form-urlencoded' },
        'a=&'.repeat(2_500),
      ),
  },
];

const read = (path: (service: ServiceUnderTest) => string): RudeBody['make'] => {
  return (service) => ({ method: 'GET', path: path(service), headers: service.headers });
};

/** What the bodies before have left behind, read again: sent last. */
const OF_PAGES: readonly RudeBody[] = [
  { kind: 'a page of 1,000 large events', make: read((service) => `${toAsset(service)}?page_size=1000`) },
  { kind: 'the asset with everything on it', make: read((service) => toAsset(service).replace('/events', '')) },
];

export const RUDE_BODIES = [...OF_JSON, ...OF_FILTERS, ...OF_CBOR, ...OF_FORMS, ...OF_PAGES];
