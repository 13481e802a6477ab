import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleIndex, encodeBundleIndex, INDEX_PATH } from '../../src/core/bundle/bundle-index.js';
import { utf8 } from '../../src/core/bytes.js';
import { rootFingerprint } from '../../src/core/keys/root-fingerprint.js';
import { tenancyLogSubject } from '../../src/core/receipt/log-claims.js';
import type { EventDocument } from '../../src/core/statement/event-document.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { encodeVkey, NoteKeyType } from '../../src/core/tlog/signed-note.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_TENANCY,
  SAMPLE_TENANCY_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
  statementLogReceipts,
} from '../core/verify/sample-transparent-statement.js';
import { commandLine } from '../support/command-line.js';
import { verifyRig } from './verify-rig.js';

const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';
const TAMPERED = utf8(new TextDecoder().decode(SAMPLE_VCON).replace('"dialog": []', '"dialog": [{}]'));
const { file, verify, remove } = verifyRig('verify-mixed');
afterAll(remove);

const json = (value: unknown) => utf8(JSON.stringify(value));
const codes = (out: string) => [...out.matchAll(/\[([a-z_]+)\]$/gm)].map(([, code]) => code);

/** A statement about a vCon with the receipt of its log alone: the event is left out. */
async function withoutEvent(vcon = SAMPLE_VCON): Promise<Uint8Array> {
  const statement = await sampleStatement(sampleAttributes(vcon));
  return assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
}

/** What another tenancy of the same service recorded about the same vCon. */
function ofOther(vcon: Uint8Array) {
  const event = { ...sampleAssetEvent(sampleAttributes(vcon)), tenant_identity: `tenant/${OTHER_TENANCY}` };
  return logged(event, sampleSigners.sealer, { ...SAMPLE_TENANCY_LOG, subject: tenancyLogSubject(OTHER_TENANCY) });
}

/** A bundle of one operation with these files, under an index that lists them. */
function bundleOf(event: EventDocument, files: Record<string, Uint8Array>): Uint8Array {
  const all = { ...files, 'event.json': json(event) };
  const operation = { number: 1, folder: '', identity: event.identity };
  return zipSync({ ...all, [INDEX_PATH]: encodeBundleIndex(bundleIndex(all, [operation])) });
}

describe('an event that lies in the folder of a statement which does not carry it', () => {
  it('is refused if the statement is about another operation, and verifies if it is the statement’s', async () => {
    const statement = await withoutEvent();
    const check = ({ event, mmrReceipt }: Awaited<ReturnType<typeof ofOther>>) =>
      verify(
        file(
          `${event.tenant_identity.slice(-4)}-${event.event_attributes?.['payload']}.zip`,
          bundleOf(event, { 'transparent-statement.cose': statement, 'tenancy-log-receipt.cose': mmrReceipt }),
        ),
      );
    const own = await check(await logged(sampleAssetEvent(sampleAttributes(SAMPLE_VCON))));
    expect([own.exitCode, codes(own.out)]).toEqual([0, []]);
    for (const forged of [await ofOther(TAMPERED), await logged(sampleAssetEvent(sampleAttributes(TAMPERED)))]) {
      const { exitCode, out } = await check(forged);
      expect([exitCode, codes(out)]).toEqual([1, ['event_mismatch']]);
    }
  });
});

describe('an event without a statement', () => {
  const given = async ({ event, mmrReceipt }: Awaited<ReturnType<typeof ofOther>>, name: string) => [
    file(`${name}.json`, json(event)),
    file(`${name}.cose`, mmrReceipt),
  ];

  it('is refused where another issuer than its tenancy is pinned, alone, in a bundle and beside other evidence', async () => {
    const theirs = await ofOther(TAMPERED);
    const loose = await given(theirs, 'theirs');
    const bundle = file('theirs.zip', bundleOf(theirs.event, { 'tenancy-log-receipt.cose': theirs.mmrReceipt }));
    const vcon = file('tampered.json', TAMPERED);
    const genuine = file('genuine.cose', await withoutEvent());
    for (const evidence of [loose, [bundle], [genuine, ...loose], [genuine, bundle]]) {
      expect(codes((await verify(vcon, ...evidence)).out)).toEqual([]);
      const { exitCode, out } = await verify('--issuer', SAMPLE_ISSUER, vcon, ...evidence);
      expect([exitCode, codes(out)]).toEqual([1, ['issuer_key_not_trusted']]);
    }
    const itsOwn = SAMPLE_ISSUER.replace(SAMPLE_TENANCY, OTHER_TENANCY);
    expect((await verify('--issuer', itsOwn, vcon, ...loose)).exitCode).toBe(0);
    expect((await verify('--issuer', itsOwn, vcon, bundle)).exitCode).toBe(0);
  });

  it('is told to be of any tenancy where none is pinned', async () => {
    const evidence = await given(await ofOther(SAMPLE_VCON), 'unpinned');
    const { out } = await verify(...evidence);
    expect(out.split('\n')[0]).toBe(
      `VERIFIED. This is what tenancy ${OTHER_TENANCY} of https://archive.example recorded. No issuer was pinned (--issuer).`,
    );
  });

  it('in the log of another service is told as that service’s, and does not satisfy the pin', async () => {
    const event = sampleAssetEvent(sampleAttributes(SAMPLE_VCON));
    const elsewhere = { ...SAMPLE_TENANCY_LOG, issuer: 'https://evil.example' };
    const evidence = await given(await logged(event, sampleSigners.sealer, elsewhere), 'elsewhere');
    const { out, exitCode } = await verify('--issuer', SAMPLE_ISSUER, ...evidence);
    expect(out.split('\n')[0]).toMatch(new RegExp(`tenancy ${SAMPLE_TENANCY} of https://evil.example recorded\\.$`));
    expect([exitCode, out.includes('its log is of https://evil.example')]).toEqual([3, true]);
    const both = ['--issuer', SAMPLE_ISSUER, '--issuer', SAMPLE_ISSUER.replace('archive.example', 'evil.example')];
    expect((await verify(...both, ...evidence)).exitCode).toBe(0);
    const own = await verify('--issuer', SAMPLE_ISSUER, ...(await given(await logged(event), 'own')));
    expect(own.exitCode).toBe(0);
  });

  it('may be given beside the statement that carries it, whoever is pinned', async () => {
    const attributes = sampleAttributes(SAMPLE_VCON);
    const statement = await sampleStatement(attributes);
    const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));
    const whole = assembleTransparentStatement(statement, {
      rfc9162Receipt: await statementLogReceipt(statement),
      mmrReceipt,
      event,
    });
    const files = [file('whole.cose', whole), ...(await given({ event, mmrReceipt }, 'same'))];
    expect((await verify('--issuer', SAMPLE_ISSUER, ...files)).exitCode).toBe(0);
  });
});

describe('evidence from before and after a move of the service', () => {
  it('verifies under both names of the issuer, and is refused under one or under others', async () => {
    const moved = SAMPLE_ISSUER.replace('archive.example', 'moved.example');
    const attributes = sampleAttributes(SAMPLE_VCON);
    const before = await sampleStatement(attributes);
    const after = await sampleStatement(attributes, sampleSigners.issuer, moved);
    const [one, two] = (await statementLogReceipts([before, after])) as [Uint8Array, Uint8Array];
    const old = file('old.cose', assembleTransparentStatement(before, { rfc9162Receipt: one }));
    const fresh = file('fresh.cose', assembleTransparentStatement(after, { rfc9162Receipt: two }));
    const { event, mmrReceipt } = await logged(sampleAssetEvent(sampleAttributes(SAMPLE_VCON, { step: '2' })));
    const files = [
      file('call.json', SAMPLE_VCON),
      old,
      fresh,
      file('bare.json', json(event)),
      file('bare.cose', mmrReceipt),
    ];
    const pinned = async (...names: string[]) =>
      (await verify(...names.flatMap((name) => ['--issuer', name]), ...files)).exitCode;
    expect(await pinned(SAMPLE_ISSUER, moved)).toBe(0);
    expect(await pinned(moved, SAMPLE_ISSUER)).toBe(0);
    for (const one of [SAMPLE_ISSUER, moved, 'did:web:third.example'])
      expect([one, await pinned(one)]).toEqual([one, 1]);
    expect(await pinned(SAMPLE_ISSUER, 'did:web:third.example')).toBe(1);
  });
});

describe('a document whose evidence has a longer digest than SHA-256', () => {
  it.each([
    ['SHA-384', 'sha384'],
    ['SHA-512', 'sha512'],
  ])('is compared by %s', async (name, hash) => {
    const payload = createHash(hash).update(SAMPLE_VCON).digest('hex');
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON, { payload, payload_hash_alg: name }));
    const whole = assembleTransparentStatement(statement, { rfc9162Receipt: await statementLogReceipt(statement) });
    const evidence = file(`${name}.cose`, whole);
    const own = await verify('--json', file('own.json', SAMPLE_VCON), evidence);
    const { claims } = JSON.parse(own.out) as { claims: { kind: string; facts: object }[] };
    expect([own.exitCode, claims.find(({ kind }) => kind === 'document')?.facts]).toEqual([
      0,
      expect.objectContaining({ form: 'raw', payload_hash: payload, payload_hash_alg: name }),
    ]);
    expect(codes((await verify(file('other.json', TAMPERED), evidence)).out)).toEqual(['payload_hash_mismatch']);
  });
});

describe('a vCon that an editor saved with a byte order mark', () => {
  it('is refused with that reason, once', async () => {
    const marked = file('marked.json', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), SAMPLE_VCON]));
    const { exitCode, out } = await verify(marked, file('marked.cose', await withoutEvent()));
    expect([exitCode, out.match(/byte order mark/g)]).toEqual([1, ['byte order mark']]);
  });
});

describe('a signed vCon', () => {
  const signed = (outside: string, inside: string) =>
    json({
      payload: Buffer.from(JSON.stringify({ vcon: '0.3.0', uuid: inside, parties: [], dialog: [] })).toString(
        'base64url',
      ),
      signatures: [{ header: { uuid: outside }, protected: 'e30', signature: 'AA' }],
    });

  it('whose signature calls it the vCon of the evidence, and whose content is another one, is unproven', async () => {
    const [own, other] = ['0192e8f5-0000-7000-8000-000000000001', '0192e8f5-0000-7000-8000-00000000000f'];
    for (const [inside, exitCode] of [
      [own, 0],
      [other, 3],
    ] as const) {
      const bytes = signed(own, inside);
      const statement = file(`signed-${exitCode}.cose`, await withoutEvent(bytes));
      const answer = await verify(file(`signed-${exitCode}.json`, bytes), statement);
      expect([inside, answer.exitCode]).toEqual([inside, exitCode]);
      if (exitCode === 3) expect(answer.out).toContain(`the document calls itself vCon ${other}`);
    }
  });
});

describe('a changed document', () => {
  const text = new TextDecoder().decode(TAMPERED).slice(1);
  const key = JSON.stringify(sampleSigners.issuer.publicKey);
  it.each([
    ['an empty list of events', '"events": []'],
    ['a list of events', '"events": [{"identity": "assets/a/events/b"}]'],
    ['an empty set of keys', '"keys": []'],
    ['a set of keys', `"keys": [${key}]`],
    ['an empty list of verification methods', '"id": "did:web:a", "verificationMethod": []'],
    ['verification methods', `"id": "did:web:a", "verificationMethod": [{"publicKeyJwk": ${key}}]`],
    ['the identity of an event', '"identity": "assets/a/events/b"'],
  ])('is compared with the evidence although somebody has added %s', async (_, member) => {
    const statement = file('statement.cose', await withoutEvent());
    const { exitCode, out } = await verify(file('added.json', `{${member}, ${text}`), statement);
    expect([exitCode, codes(out)]).toEqual([1, ['payload_hash_mismatch']]);
  });

  it('that is no vCon is compared too, whatever lists stand in it', async () => {
    const statement = file('statement.cose', await withoutEvent());
    for (const added of ['"keys": []', `"keys": [${key}]`, '"events": []', '"events": [{"identity": "events/b"}]']) {
      const { exitCode, out } = await verify(file('other.json', `{"report": 1, ${added}}`), statement);
      expect([exitCode, codes(out)]).toEqual([1, ['payload_hash_mismatch']]);
    }
  });
});

describe('a document with the hash of the evidence', () => {
  it('is unproven if it calls itself another vCon than the evidence', async () => {
    const other = utf8(new TextDecoder().decode(SAMPLE_VCON).replace('-000000000001', '-00000000000f'));
    const statement = file('of-other.cose', await withoutEvent(other));
    const { exitCode, out } = await verify(file('other-uuid.json', other), statement);
    expect([exitCode, out]).toEqual([3, expect.stringMatching(/calls itself vCon .*f, and the evidence .* vCon .*1/)]);
  });
});

describe('a folder with something in it that has no end', () => {
  it('does not hold up the check', async () => {
    const folder = dirname(file('endless/index.json', '{}'));
    const replica = dirname(file('replica/massifs/0000000000000001.log', 'x'));
    for (const path of [join(folder, 'keys', 'key-manifest.cbor'), join(replica, '0000000000000000.log')]) {
      await mkdir(dirname(path), { recursive: true });
      execFileSync('mkfifo', [path]);
    }
    const root = rootFingerprint(new Uint8Array(32));
    for (const place of [folder, dirname(replica)]) {
      const { exitCode } = await commandLine(['verify', '--root', root, place]);
      expect(exitCode).toBe(2);
    }
  });
});

describe('witnesses that are asked for', () => {
  it('are missing in evidence that is no bundle', async () => {
    const key = { name: 'witness.example', type: NoteKeyType.cosignature, publicKey: new Uint8Array(32).fill(1) };
    const witness = ['--witness', encodeVkey(key)];
    const statement = file('unwitnessed.cose', await withoutEvent());
    const { event, mmrReceipt } = await logged(sampleAssetEvent(sampleAttributes(SAMPLE_VCON)));
    const files = [file('unwitnessed.json', json(event)), file('unwitnessed-receipt.cose', mmrReceipt)];
    for (const evidence of [['--statement-only', statement], files]) {
      expect((await verify(...evidence)).exitCode).toBe(0);
      const { exitCode, out } = await verify(...witness, ...evidence);
      expect([exitCode, out]).toEqual([3, expect.stringMatching(/witnesses were required/)]);
    }
  });
});

describe('a subject that only looks like a vCon’s', () => {
  it('names none, and what shows nothing is escaped', async () => {
    const subject = 'vcon://0192e8f5-0000-7000-8000-000000000001\u200b';
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON, { subject }));
    const rfc9162Receipt = await statementLogReceipt(statement);
    const { out } = await verify(
      '--statement-only',
      file('zw.cose', assembleTransparentStatement(statement, { rfc9162Receipt })),
    );
    expect(out).toContain('-000000000001\\u200b');
    expect(out).not.toMatch(/^ {4}vCon /m);
  });
});

describe('evidence of two histories of one log', () => {
  const OTHER_EVENT = 'assets/0192e8f5-1111-7000-8000-000000000001/events/0192e8f5-2222-7000-8000-000000000099';
  const SECOND = sampleSealedLog({
    leaves: 8,
    event: (leaf) => (leaf === 5 ? { operation: 'Other', identity: OTHER_EVENT } : {}),
  });
  const FIRST = sampleSealedLog({ leaves: 8 });
  const refusals = (out: string) => codes(out).filter((code) => code !== 'consistency_invalid');
  const both = async (...files: string[]) => {
    const { out, exitCode } = await verify(...files);
    return [exitCode, codes(out).length > 0, refusals(out)];
  };
  const alone = async (...files: string[]) => (await verify(...files)).exitCode;

  it('is refused if two statements have one place', async () => {
    const one = file('two/one.cose', await withoutEvent());
    const other = file('two/other.cose', await withoutEvent(TAMPERED));
    expect([await alone(one), await alone(other)]).toEqual([0, 0]);
    expect(await both(one, other)).toEqual([1, true, []]);
  });

  it('is refused if two events have one place', async () => {
    const files = async (name: string, log: typeof FIRST) => [
      file(`two/${name}.json`, json(log.events[5])),
      file(`two/${name}.cose`, await log.receipt(5)),
    ];
    const [one, other] = [await files('first', FIRST), await files('second', SECOND)];
    expect([await alone(...one), await alone(...other)]).toEqual([0, 0]);
    expect(await both(...one, ...other)).toEqual([1, true, []]);
  });

  it('is refused if no copy of the log extends the other, and verifies if one does', async () => {
    const copy = async (name: string, log: typeof FIRST, leaves: number) => {
      const [first] = [file(`${name}/massifs/0000000000000000.log`, log.massif(0, Math.min(leaves, 4)))];
      file(`${name}/massifseals/0000000000000000.sth`, await log.seal(Math.min(leaves, 4)));
      if (leaves > 4) {
        file(`${name}/massifs/0000000000000001.log`, log.massif(1, leaves));
        file(`${name}/massifseals/0000000000000001.sth`, await log.seal(leaves));
      }
      return dirname(dirname(first!));
    };
    const whole = await copy('copies/whole', FIRST, 8);
    const shared = await copy('copies/shared', SECOND, 4);
    const forked = await copy('copies/forked', SECOND, 7);
    for (const each of [whole, shared, forked]) expect([each, await alone(each)]).toEqual([each, 0]);
    for (const same of [shared, await copy('copies/older', FIRST, 7)])
      expect([same, await alone(whole, same)]).toEqual([same, 0]);
    for (const given of [
      [whole, forked],
      [forked, whole],
    ])
      expect(await both(...given)).toEqual([1, true, []]);
  });
});
