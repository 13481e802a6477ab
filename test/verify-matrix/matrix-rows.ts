import { type Zippable, zipSync } from 'fflate';
import { ZIP_TIME } from '../../src/core/bundle/zip-time.js';
import type { CborMap, CborValue } from '../../src/core/cose/cbor.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import type { EvidenceSet } from './evidence-sets.js';
import { type Splice, spliceCbor, unprotectedText, withText } from './splice-cbor.js';
import { spliceJson } from './splice-json.js';

/** Files that are given to a verifier together, by their names. */
export type GivenFiles = Readonly<Record<string, Uint8Array>>;

/** A kind of check: which pieces of a set are given to it, and which of them are exchanged and changed. */
interface Case {
  readonly name: string;
  /** Undefined when a set has no such evidence. */
  files(set: EvidenceSet): GivenFiles | undefined;
  /** Every other mixture of the parts of two sets. */
  mixtures?(set: EvidenceSet, other: EvidenceSet): Generator<[what: string, files: GivenFiles]>;
  readonly cbor: readonly string[];
  readonly json: readonly string[];
}

/** Evidence that is no longer what the service made. */
export interface Row {
  readonly case: string;
  readonly set: EvidenceSet;
  /** What was done, for a person. */
  readonly what: string;
  /** The member that was changed, in the file that was changed; undefined when whole parts were exchanged. */
  readonly changed?: { readonly file: string; readonly member: readonly string[] };
  readonly files: GivenFiles;
}

const TS = 'transparent-statement.cose';
const EVENT_HEADER = 'event';

function present(files: Record<string, Uint8Array | undefined>): GivenFiles | undefined {
  return Object.values(files).includes(undefined) ? undefined : (files as GivenFiles);
}

/** Every choice of parts from two sets but the two whole ones. */
function* choices(parts: readonly string[]): Generator<ReadonlySet<string>> {
  for (let bits = 1; bits < 2 ** parts.length - 1; bits += 1) yield new Set(parts.filter((_, at) => bits & (1 << at)));
}

function* fileMixtures(files: GivenFiles, others: GivenFiles): Generator<[string, GivenFiles]> {
  const names = Object.keys(files).filter((name) => others[name]);
  for (const taken of choices(names))
    yield [
      `${[...taken].join(' and ')} exchanged`,
      { ...files, ...Object.fromEntries([...taken].map((name) => [name, others[name]!])) },
    ];
}

/** A transparent statement of parts of two: statement, receipts and event. */
function* statementMixtures(set: EvidenceSet, other: EvidenceSet): Generator<[string, GivenFiles]> {
  const [own, foreign] = [decodeSign1(set.transparentStatement!), decodeSign1(other.transparentStatement!)];
  const receipts = (of: typeof own) => of.unprotectedHeader.get(394) as CborValue[];
  for (const taken of choices([
    'statement',
    'statement-log receipt',
    'tenancy-log receipt',
    EVENT_HEADER,
    'document',
  ])) {
    const from = (part: string) => (taken.has(part) ? foreign : own);
    const header: CborMap = new Map<number | string, CborValue>();
    const both = [receipts(from('statement-log receipt'))[0], receipts(from('tenancy-log receipt'))[1]];
    header.set(
      394,
      both.filter((each) => each !== undefined),
    );
    const event = from(EVENT_HEADER).unprotectedHeader.get(EVENT_HEADER);
    if (event !== undefined) header.set(EVENT_HEADER, event);
    const { unprotectedHeader: _, ...signed } = from('statement');
    const document = taken.has('document') ? other.document : set.document;
    const files = { [TS]: encodeSign1({ ...signed, unprotectedHeader: header }) };
    yield [`${[...taken].join(' and ')} exchanged`, { 'call.json': document, ...files }];
  }
}

const CASES: readonly Case[] = [
  {
    name: 'transparent statement and document',
    files: ({ document, transparentStatement }) => present({ 'call.json': document, [TS]: transparentStatement }),
    mixtures: statementMixtures,
    cbor: [TS],
    json: ['call.json'],
  },
  {
    name: 'event and receipt',
    files: ({ event, receipt }) => present({ 'event.json': event, 'receipt.cose': receipt }),
    cbor: ['receipt.cose'],
    json: ['event.json'],
  },
  {
    name: 'event and receipt with a map',
    files: ({ event, mapReceipt }) => present({ 'event.json': event, 'receipt.cose': mapReceipt }),
    cbor: ['receipt.cose'],
    json: [],
  },
  {
    name: 'statement and receipt',
    files: ({ statement, statementReceipt }) =>
      present({ 'statement.cose': statement, 'receipt.cose': statementReceipt }),
    cbor: ['statement.cose', 'receipt.cose'],
    json: [],
  },
  {
    name: 'event and log',
    files: ({ event, massif, seal }) => present({ 'event.json': event, 'massif.log': massif, 'seal.sth': seal }),
    cbor: ['seal.sth'],
    json: ['event.json'],
  },
  {
    name: 'page of a bundle',
    files: ({ bundle }) => present({ 'index.html': bundle['index.html'] }),
    cbor: [],
    json: [],
  },
];

function* rowsOfMember(given: Case, set: EvidenceSet, donors: readonly EvidenceSet[]): Generator<Row> {
  const files = given.files(set)!;
  const donorFiles = donors.flatMap((donor) => {
    const others = given.files(donor);
    return others ? [[donor.name, others] as const] : [];
  });
  const of = (file: string) => donorFiles.flatMap(([name, each]) => (each[file] ? [[name, each[file]] as const] : []));
  const row = (file: string, { member, change, bytes }: Splice): Row => ({
    case: given.name,
    set,
    what: `${file}: ${member.join(' › ')} ${change}`,
    changed: { file, member },
    files: { ...files, [file]: bytes },
  });
  for (const file of given.cbor) {
    if (!files[file]) continue;
    for (const splice of spliceCbor(files[file], of(file))) yield row(file, splice);
    for (const splice of spliceCarriedEvent(files[file], of(file))) yield row(file, splice);
  }
  for (const file of given.json)
    if (files[file]) for (const splice of spliceJson(files[file], of(file))) yield row(file, splice);
}

/** The members of the event that a transparent statement carries as text. */
function* spliceCarriedEvent(bytes: Uint8Array, donors: readonly (readonly [string, Uint8Array])[]): Generator<Splice> {
  const path = unprotectedText(bytes, EVENT_HEADER);
  if (!path) return;
  const text = (of: Uint8Array) =>
    new TextEncoder().encode(String(decodeSign1(of).unprotectedHeader.get(EVENT_HEADER)));
  const others = donors.filter(([, donor]) => unprotectedText(donor, EVENT_HEADER));
  const events = others.map(([name, donor]) => [name, text(donor)] as const);
  for (const { member, change, bytes: event } of spliceJson(text(bytes), events))
    yield { member: [EVENT_HEADER, ...member], change, bytes: withText(bytes, path, event) };
}

function* rowsOfMixtures(given: Case, set: EvidenceSet, others: readonly EvidenceSet[]): Generator<Row> {
  for (const other of others) {
    const [files, foreign] = [given.files(set)!, given.files(other)];
    if (other === set || !foreign) continue;
    const mixtures = given.mixtures?.(set, other) ?? fileMixtures(files, foreign);
    for (const [what, mixed] of mixtures)
      yield { case: given.name, set, what: `${what} with ${other.name}`, files: mixed };
  }
}

export function zipOf(files: GivenFiles): Uint8Array {
  return zipSync(files as Zippable, { level: 0, mtime: ZIP_TIME });
}

const GARBAGE = new TextEncoder().encode('garbage');

/** Each file of a bundle taken away, overwritten and exchanged, and where told each member of its JSON and CBOR files. */
function* rowsOfBundle(set: EvidenceSet, donors: readonly EvidenceSet[], members: boolean): Generator<Row> {
  const row = (what: string, file: string, bundle: GivenFiles, member: readonly string[] = []): Row => ({
    case: 'bundle',
    set,
    what: `${file} ${what}`,
    changed: { file, member },
    files: { 'evidence.zip': zipOf(bundle) },
  });
  for (const [file, bytes] of Object.entries(set.bundle)) {
    const { [file]: _, ...rest } = set.bundle;
    yield row('removed', file, rest);
    yield row('overwritten', file, { ...set.bundle, [file]: GARBAGE });
    const others = donors.flatMap((donor) => (donor.bundle[file] ? [[donor.name, donor.bundle[file]] as const] : []));
    for (const [name, other] of others) yield row(`of ${name}`, file, { ...set.bundle, [file]: other });
    const splice = file.endsWith('.json') ? spliceJson : /\.(cose|sth|cbor)$/.test(file) ? spliceCbor : undefined;
    if (!members || !splice) continue;
    for (const each of splice(bytes, others))
      yield row(`${each.member.join(' › ')} ${each.change}`, file, { ...set.bundle, [file]: each.bytes }, each.member);
  }
}

const same = (one: GivenFiles, other: GivenFiles) =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, bytes]) => other[name] && Buffer.compare(bytes, other[name]) === 0);

/** What to make rows of. */
export interface MatrixPlan {
  readonly sets: readonly EvidenceSet[];
  /** Of exchanged members. */
  readonly donors: readonly EvidenceSet[];
  /** Whose parts are exchanged for those of a set. */
  readonly partners: readonly EvidenceSet[];
  /** Of bundles each file, or also each JSON member and CBOR item in it. */
  readonly bundles: 'none' | 'files' | 'members';
}

/** What each kind of check is given of a set when nothing was changed. */
export function genuineRows(sets: readonly EvidenceSet[], bundles: MatrixPlan['bundles']): Row[] {
  return sets.flatMap((set) => [
    ...CASES.flatMap((each) => {
      const files = each.files(set);
      return files ? [{ case: each.name, set, what: 'as it is', files }] : [];
    }),
    ...(bundles === 'none'
      ? []
      : [{ case: 'bundle', set, what: 'as it is', files: { 'evidence.zip': zipOf(set.bundle) } }]),
  ]);
}

/** Every row of a plan; mixtures that give the evidence of one set again are left out. */
export function* matrixRows({ sets, donors, partners, bundles }: MatrixPlan): Generator<Row> {
  const genuine = genuineRows([...new Set([...sets, ...partners])], bundles);
  const isGenuine = (row: Row) => genuine.some((each) => each.case === row.case && same(each.files, row.files));
  for (const set of sets) {
    const others = donors.filter((donor) => donor !== set);
    for (const given of CASES) {
      if (!given.files(set)) continue;
      for (const row of rowsOfMember(given, set, others)) if (!isGenuine(row)) yield row;
      for (const row of rowsOfMixtures(given, set, partners)) if (!isGenuine(row)) yield row;
    }
    if (bundles === 'none') continue;
    for (const row of rowsOfBundle(set, others, bundles === 'members')) if (!isGenuine(row)) yield row;
  }
}
