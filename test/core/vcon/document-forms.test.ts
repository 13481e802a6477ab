import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../../src/core/bytes.js';
import { sha256 } from '../../../src/core/sha256.js';
import { asRead, asStored, storable } from '../../../src/core/vcon/conserver-forms.js';
import { type JsonObject, readJson } from '../../../src/core/vcon/json-document.js';
import { pythonJson } from '../../../src/core/vcon/python-json.js';
import { asSubmitted } from '../../../src/core/vcon/submitted-form.js';
import { type ConserverForm, vconHashes } from '../../../src/core/vcon/vcon-hash.js';
import { fixture } from '../event/known-answers.js';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Members = { [name: string]: Json };

const digest = (text: string) => toHex(sha256(utf8(text)));
const vconOf = (text: string) => storable(readJson(utf8(text)));

/** What a conserver does to a file, step by step, and nothing of what our checks ask of it. */
const CONSERVER: Readonly<Record<ConserverForm, (vcon: JsonObject) => JsonObject>> = {
  upstream: asRead,
  stored: (vcon) => asStored(asRead(vcon)),
  submitted: (vcon) => asRead(asSubmitted(vcon, 'modelled')),
  'submitted-stored': (vcon) => asStored(asRead(asSubmitted(vcon, 'modelled'))),
};
const FORMS = Object.keys(CONSERVER) as ConserverForm[];
const hashedAs = (text: string, form: ConserverForm) => digest(pythonJson(CONSERVER[form](vconOf(text))));

/** Every digest for which a file is taken. */
function digestsOf(text: string): ReadonlySet<string | undefined> {
  const hashes = vconHashes(utf8(text));
  return new Set([hashes.raw, ...hashes.conserver].map(({ hash }) => hash));
}

const CALL: Members = {
  vcon: '0.4.0',
  uuid: '018d0000-0000-8000-8000-00000000c001',
  created_at: '2024-05-07T16:33:29+00:00',
  parties: [{ tel: '+15550100', name: 'Ann' }],
  dialog: [{ type: 'recording', start: '2024-05-07T16:33:29Z', mediatype: 'audio/wav', duration: 33.12 }],
  analysis: [{ type: 'summary', vendor: 'v', body: { kept: true } }],
  attachments: [{ purpose: 'tags', body: 'a:b', encoding: 'none' }],
};
const call = JSON.stringify(CALL);
const UUID = String(CALL['uuid']);

/** The call's text with one edit. */
function edited(from: string, to: string, text = call): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

describe('a file is refused as the vCon that was hashed', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['a name twice', edited('"name":"Ann"', '"name":"Eve","name":"Ann"')],
    ['a name twice, once escaped', edited('"name":"Ann"', '"n\\u0061me":"Eve","name":"Ann"')],
    ['a name of the vCon twice', edited('"vcon"', '"\\u0076con":"9","vcon"')],
    ['a name twice inside a body', edited('"kept":true', '"kept":false,"kept":true')],
    ['a legacy name beside its new one', edited('"mediatype"', '"mimetype":"video/mp4","mediatype"')],
    ['an empty legacy name beside its new one', edited('"mediatype"', '"mimetype":null,"mediatype"')],
    ['another vcon version', edited('"vcon":"0.4.0"', '"vcon":"0.3.0"')],
    ['a version that is no text', edited('"vcon":"0.4.0"', '"vcon":null')],
    ['an encoding beside an object body', edited('{"kept":true}', '{"kept":true},"encoding":"base64url"')],
    ['an encoding before an object body', edited('"vendor"', '"encoding":"none","vendor"')],
    ['an encoding of null beside an object body', edited('{"kept":true}', '{"kept":true},"encoding":null')],
    ['an empty member of its own', edited('"parties"', '"extra":null,"parties"')],
    ['an empty member inside an entry', edited('"name":"Ann"', '"name":"Ann","sip":null')],
    ['digits that a double drops', edited('33.12', '33.1200000000000001')],
  ];
  it.each(rows)('that has %s', (_row, file) => {
    const digests = digestsOf(file);
    for (const form of FORMS) expect(digests.has(hashedAs(call, form)), form).toBe(false);
  });

  it.each([
    ['group', '[]'],
    ['redacted', '{}'],
  ])('that has an empty %s which the hashed vCon lacks', (name, empty) => {
    const digests = digestsOf(edited('"parties"', `"${name}":${empty},"parties"`));
    for (const form of ['upstream', 'stored', 'submitted-stored'] as const)
      expect(digests.has(hashedAs(call, form)), form).toBe(false);
  });

  it('that has an integer of which the store keeps only a double', () => {
    const [rounded, integer] = ['18446744073709551616.0', '18446744073709551617'].map((number) =>
      edited('33.12', number),
    );
    for (const form of FORMS) expect(digestsOf(integer!).has(hashedAs(rounded!, form)), form).toBe(false);
  });

  it('that has a duration of which the API keeps only a double', () => {
    const [kept, rounded] = ['9007199254740992', '9007199254740993'].map((number) => edited('33.12', number));
    for (const form of FORMS) expect(digestsOf(rounded!).has(hashedAs(kept!, form)), form).toBe(false);
    for (const form of FORMS) expect(digestsOf(kept!).has(hashedAs(kept!, form)), form).toBe(true);
  });

  it('and told which member the conserver would have dropped', () => {
    const { conserver } = vconHashes(utf8(edited('"vcon":"0.4.0"', '"vcon":"0.3.0"')));
    expect(conserver.find(({ form }) => form === 'stored')!.reason).toBe(
      '`vcon` is not 0.4.0: the conserver overwrites it',
    );
  });
});

interface Submitted {
  readonly name: string;
  readonly input_text: string;
  readonly modelled: string;
  readonly plain: string;
}
const SUBMITTED = fixture('vcon/submitted.json') as Submitted[];

function expectNoSubmittedForm(file: string): void {
  const { conserver } = vconHashes(utf8(file));
  for (const { form, hash } of conserver) expect(hash === undefined).toBe(form.startsWith('submitted'));
}

describe('a submitted file', () => {
  it.each(SUBMITTED)('is what the API makes of it: $name', ({ input_text, modelled, plain }) => {
    expect(pythonJson(asSubmitted(vconOf(input_text), 'modelled'))).toBe(modelled);
    expect(pythonJson(asSubmitted(vconOf(input_text), 'plain'))).toBe(plain);
  });

  it.each(SUBMITTED)(
    'is taken for what a link read after the post, and so is the answer to the post: $name',
    (known) => {
      for (const stored of [known.modelled, known.plain]) {
        const hash = hashedAs(stored, 'upstream');
        expect(digestsOf(known.input_text).has(hash)).toBe(true);
        expect(digestsOf(stored).has(hash)).toBe(true);
      }
    },
  );

  it.each([
    ['a time below a microsecond', '2024-05-07T16:33:29.1234567Z'],
    ['an unknown offset', '2024-05-07T16:33:29-00:00'],
    ['a Unix time', '1715099609'],
    ['no time', '2024-05-07'],
  ])('with %s has no form, because the API rewrites it', (_row, time) => {
    expectNoSubmittedForm(edited('2024-05-07T16:33:29+00:00', time));
  });

  it.each([
    ['a numeric time', '"2024-05-07T16:33:29+00:00"', '1715099609'],
    ['a numeric time in milliseconds', '"2024-05-07T16:33:29+00:00"', '1715099609000'],
    ['a UUID in braces', UUID, `{${UUID}}`],
    ['a UUID without hyphens', UUID, UUID.replaceAll('-', '')],
    ['a UUID as a URN', UUID, `urn:uuid:${UUID}`],
  ])('with %s has no form: spellings of different meaning become the same', (_row, from, to) => {
    expectNoSubmittedForm(edited(from, to));
  });
});

const word = fc.stringMatching(/^[a-zé]{0,4}$/);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
);
const scalar = fc.oneof(word, number, fc.boolean(), fc.constant(null));
const extra = fc.dictionary(fc.stringMatching(/^x[a-z]{1,3}$/), fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), {
  maxKeys: 2,
});
const body = fc.oneof(
  fc.record({ body: word, encoding: fc.constantFrom('none', 'base64url') }),
  fc.record({ body: fc.dictionary(word, scalar, { maxKeys: 2 }) }),
  fc.record({ body: fc.array(scalar, { maxLength: 2 }), encoding: fc.constant('json') }),
);
const optional = { requiredKeys: [] };
const entries = <Entry extends object>(entry: fc.Arbitrary<Entry>) =>
  fc.array(
    fc.tuple(entry, extra).map(([members, others]) => ({ ...members, ...others })),
    { maxLength: 2 },
  );

/** A vCon of which a conserver loses nothing, in any order of its members. */
const vcon = fc
  .tuple(
    fc.record({
      vcon: fc.constant('0.4.0'),
      uuid: fc.uuid(),
      created_at: fc.constantFrom('2024-05-07T16:33:29Z', '2024-05-07T16:33:29.25+02:00', '2024-05-07T16:33:29'),
      parties: entries(fc.record({ name: word, tel: word }, optional)),
      dialog: entries(fc.record({ type: word, start: word, duration: fc.nat(), mimetype: word, url: word }, optional)),
    }),
    fc.record(
      {
        subject: fc.option(word),
        appended: fc.record({ uuid: fc.uuid() }),
        redacted: fc.record({ uuid: fc.uuid() }),
        critical: fc.array(word, { maxLength: 2 }),
        analysis: entries(
          fc.tuple(fc.record({ type: word, schema_version: word }, optional), body).map(([a, b]) => ({ ...a, ...b })),
        ),
        attachments: entries(fc.tuple(fc.record({ type: word }, optional), body).map(([a, b]) => ({ ...a, ...b }))),
      },
      optional,
    ),
    extra,
    fc.infiniteStream(fc.nat()),
  )
  .map(([required, known, others, ranks]) => {
    const members = Object.entries({ ...required, ...known, ...others }).map(
      (member) => [ranks.next().value, member] as const,
    );
    return Object.fromEntries(members.sort(([a], [b]) => a - b).map(([, member]) => member)) as Members;
  });

const isMembers = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NAMES = [
  'appended',
  'amended',
  'must_support',
  'critical',
  'schema_version',
  'schema',
  'mimetype',
  'mediatype',
  'type',
].concat(['purpose', 'encoding', 'body', 'vcon', 'group', 'redacted', 'subject', 'tel', 'duration', 'fresh']);
const VALUES: readonly Json[] = [null, {}, [], '', 'json', 1, '0.4.0'];

/** Every object with one member injected, removed, renamed or given another value. */
function* objectMutants(members: Members): Generator<Members> {
  const all = Object.entries(members);
  for (const name of NAMES) {
    if (name in members) continue;
    for (const value of VALUES) {
      yield { [name]: value, ...members };
      yield { ...members, [name]: value };
    }
  }
  for (const [at, [name, value]] of all.entries()) {
    yield Object.fromEntries(all.toSpliced(at, 1));
    for (const other of NAMES) if (!(other in members)) yield Object.fromEntries(all.toSpliced(at, 1, [other, value]));
    for (const other of VALUES) yield { ...members, [name]: other };
    for (const inner of mutants(value)) yield { ...members, [name]: inner };
  }
}

function* mutants(value: Json): Generator<Json> {
  if (Array.isArray(value)) {
    for (const [at, member] of value.entries()) {
      yield value.toSpliced(at, 1);
      yield value.toSpliced(at, 0, member);
      for (const inner of mutants(member)) yield value.toSpliced(at, 1, inner);
    }
  } else if (isMembers(value)) yield* objectMutants(value);
}

/** Every text with one member of one object twice: the last one is genuine, the first has another value. */
function* doubled(text: string): Generator<string> {
  for (const { index, 0: start, 1: name } of text.matchAll(/(?<=[{,])"([a-z_]+)":/g)) {
    const first = name!.charCodeAt(0).toString(16).padStart(4, '0');
    yield `${text.slice(0, index)}${start}"another",${text.slice(index)}`;
    yield `${text.slice(0, index)}"\\u${first}${name!.slice(1)}":"another",${text.slice(index)}`;
  }
}

const ENTRY_NAMES: Readonly<Record<string, string>> = {
  schema_version: 'schema',
  mimetype: 'mediatype',
  must_support: 'critical',
};
const VCON_NAMES: Readonly<Record<string, string>> = { appended: 'amended', must_support: 'critical' };
const EMPTY: Readonly<Record<string, string>> = {
  group: '[]',
  redacted: '{}',
  parties: '[]',
  dialog: '[]',
  analysis: '[]',
  attachments: '[]',
};
const NULLS = ['tel', 'duration', 'start', 'parties', 'url', 'mediatype', 'alg'];

function entryMeaning(list: string, entry: Json): Json {
  if (!isMembers(entry)) return entry;
  const names =
    list === 'parties'
      ? {}
      : list === 'attachments' && !('purpose' in entry)
        ? { ...ENTRY_NAMES, type: 'purpose' }
        : ENTRY_NAMES;
  const renamed = Object.fromEntries(
    Object.entries(entry)
      .map(([name, value]) => [(names as Record<string, string>)[name] ?? name, value] as const)
      .filter(([name, value]) => value !== null || !['parties', 'dialog'].includes(list) || !NULLS.includes(name)),
  );
  const { body } = renamed;
  const isText = ['analysis', 'attachments'].includes(list) && typeof body === 'object' && body !== null;
  return isText
    ? { ...renamed, body: pythonJson(readJson(utf8(JSON.stringify(body))).value), encoding: 'json' }
    : renamed;
}

/** What a vCon says to a reader who knows its legacy names and its defaults; order and spelling do not matter. */
function meaning(members: Members): string {
  const told = Object.entries({ vcon: '0.4.0', ...members })
    .map(([name, value]): [string, Json] => {
      if (name === 'created_at') return [name, String(value).replace('Z', '+00:00')];
      if (name in EMPTY && Array.isArray(value)) return [name, value.map((entry) => entryMeaning(name, entry))];
      return [VCON_NAMES[name] ?? name, value];
    })
    .filter(
      ([name, value]) =>
        !(EMPTY[name] === JSON.stringify(value) || (value === null && ['subject', 'amended'].includes(name))),
    );
  const sorted = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(sorted);
    if (!isMembers(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [name, sorted(inner)]),
    );
  };
  return JSON.stringify(sorted(Object.fromEntries(told)));
}

describe('any vCon', () => {
  it('is taken for what a conserver hashed of it, in every form', () => {
    fc.assert(
      fc.property(vcon, (document) => {
        const text = JSON.stringify(document);
        const digests = digestsOf(text);
        for (const form of FORMS) expect(digests.has(hashedAs(text, form)), form).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('with one member more, less, twice, renamed or changed is not, unless it says the same', () => {
    let [refused, respelt] = [0, 0];
    fc.assert(
      fc.property(vcon, (document) => {
        const text = JSON.stringify(document);
        const hashed = FORMS.map((form) => hashedAs(text, form));
        const isTaken = (file: string) => {
          const digests = digestsOf(file);
          return hashed.some((hash) => digests.has(hash));
        };
        for (const file of doubled(text)) expect(isTaken(file), file).toBe(false);
        for (const mutant of mutants(document) as Generator<Members>) {
          const file = JSON.stringify(mutant);
          if (file === text || !isTaken(file)) refused++;
          else {
            respelt++;
            expect(meaning(mutant), file).toBe(meaning(document));
          }
        }
      }),
      { numRuns: 4 },
    );
    expect(refused).toBeGreaterThan(100 * respelt);
  });
});

const SCRIPT = `
import json, sys
from datetime import datetime
from typing import Any, Dict, List, Optional
from uuid import UUID
from pydantic import BaseModel, ConfigDict
class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
class Party(Model):
    tel: Optional[str] = None
class Dialog(Model):
    duration: Optional[float] = None
    start: Optional[str] = None
    parties: Any = None
    url: Optional[str] = None
    mimetype: Optional[str] = None
    alg: Optional[str] = None
class Vcon(Model):
    vcon: str
    uuid: UUID
    created_at: datetime
    subject: Optional[str] = None
    redacted: dict = {}
    appended: Optional[dict] = None
    group: List[Dict] = []
    parties: List[Party] = []
    dialog: List[Dialog] = []
    analysis: List[Dict] = []
    attachments: List[Dict] = []
def post(text):
    model = Vcon(**json.loads(text))
    return json.dumps({**model.model_dump(), "uuid": str(model.uuid), "created_at": model.created_at.isoformat()})
json.dump([post(text) for text in json.load(sys.stdin)], sys.stdout)
`;
const hasPydantic = spawnSync('python3', ['-c', 'import pydantic']).status === 0;

describe.skipIf(!hasPydantic)('a model of the API in pydantic, which the API is written with', () => {
  it('makes the same of random vCons', () => {
    const documents = fc.sample(vcon, 500).map((document) => JSON.stringify(document));
    const python = spawnSync('python3', ['-c', SCRIPT], { input: JSON.stringify(documents), maxBuffer: 2 ** 28 });
    expect(python.stderr.toString()).toBe('');
    const made = JSON.parse(python.stdout.toString()) as string[];
    expect(documents.map((text) => pythonJson(asSubmitted(vconOf(text), 'modelled')))).toEqual(made);
  });
});
