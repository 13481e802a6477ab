import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64Url, toHex } from '../../../src/core/bytes.js';
import { judgeByManifest } from '../../../src/core/keys/judge-by-manifest.js';
import type { KeyManifest } from '../../../src/core/keys/key-manifest.js';
import type { Claim, ClaimKind, Facts, Proof } from '../../../src/core/verify/claim.js';
import { createVerdict } from '../../../src/core/verify/verdict.js';
import { firstManifest, nextManifest, sampleRoot } from './sample-manifests.js';

const root = sampleRoot(1).publicKey;
const LOG = 'log/0199c2d0-0000-7000-8000-000000000002';
/** The issuer key is revoked when the private statement log has seven entries. */
const manifest = nextManifest(firstManifest(root), new Uint8Array(32), root);
const keyOf = (role: string, state: string, from: KeyManifest = manifest) => {
  const key = from.keys.find((each) => each.role === role && each.state === state)!;
  return { thumbprint: toHex(fromBase64(key.keyId)) };
};
const revoked = keyOf('issuer', 'revoked');
const receipts = keyOf('statement_receipt', 'active');

const UNLISTED = { thumbprint: '00'.repeat(32) };

const signature = (key = revoked): Proof => ({ type: 'signature', issuer_pinned: true, key });
const inclusion = (more: object = {}, key = receipts): Proof => ({
  type: 'inclusion',
  log: { subject: LOG },
  vds: 1,
  signed: 'root',
  leaf: '00',
  leaf_index: '6',
  tree_size: '7',
  key,
  ...more,
});
const judge = (by: readonly Proof[], from: KeyManifest = manifest, facts: Claim['facts'] = { operation: 'x' }) =>
  judgeByManifest(createVerdict({ claims: [{ kind: 'statement', piece: 'statement', facts, by }] }), from);
const kinds = (verdict: ReturnType<typeof judge>) => verdict.missing.map(({ what }) => what);

describe('a verdict under a key manifest', () => {
  it('counts what a key signed that is active, pending or retired, and names the manifest', () => {
    const verdict = judge([signature(keyOf('issuer', 'active')), inclusion()]);
    expect(verdict.outcome).toBe('verified');
    expect(verdict.missing.at(-1)!.detail).toBe(
      `the keys are from key manifest 2 of ${new Date(manifest.issuedAtMs).toISOString()}: later revocations are not known`,
    );
  });

  it('keeps a remark about the times of a piece that counts, and none about a piece that does not', () => {
    const remark = (piece: string) => ({ what: 'sealed_before_leaf', piece, detail: `of ${piece}` }) as const;
    const claims = ['kept', 'dropped'].map((piece): Claim => {
      const by = [signature(piece === 'kept' ? keyOf('issuer', 'active') : revoked)];
      return { kind: 'statement', piece, facts: {}, by };
    });
    const judged = judgeByManifest(createVerdict({ claims, remarks: [remark('kept'), remark('dropped')] }), manifest);
    expect(judged.remarks).toEqual([remark('kept')]);
  });

  it('counts what a revoked key signed only under a receipt over a tree that is no larger than at the revocation', () => {
    expect(judge([signature(), inclusion()]).outcome).toBe('verified');
    for (const by of [
      [signature()],
      [signature(), inclusion({ tree_size: '8' })],
      [signature(), inclusion({ tree_size: undefined })],
      [signature(), inclusion({ vds: 3 }, keyOf('seal', 'active'))],
      [signature(), inclusion({ log: { subject: 'log/another' } })],
      [signature(), inclusion({ log: {} })],
      [signature(), inclusion({ log: { subject: 'log/another' } }, UNLISTED)],
    ]) {
      const verdict = judge(by);
      expect([verdict.outcome, verdict.claims]).toEqual(['incomplete', []]);
      expect(verdict.notCovered[0]).toMatchObject({ piece: 'statement', why: 'unproven' });
      expect(verdict.notCovered[0]!.detail).toContain('no given evidence proves that it was signed before');
    }
  });

  it('takes an event for proven by a receipt that counts, whatever else proves it, and names only that', () => {
    const sealKeys = manifest.keys.map((key) =>
      key.role === 'issuer' && key.state === 'revoked' ? { ...key, role: 'seal' } : key,
    );
    const sealed = { ...manifest, keys: sealKeys } as KeyManifest;
    const [old, active] = [keyOf('seal', 'revoked', sealed), keyOf('seal', 'active', sealed)].map((key) =>
      inclusion({ vds: 3, signed: 'peak' }, key),
    ) as [Proof, Proof];
    const judged = (...by: Proof[]) =>
      judgeByManifest(createVerdict({ claims: [{ kind: 'event', piece: 'event', facts: {}, by }] }), sealed);
    for (const by of [
      [old, active],
      [active, old],
    ])
      expect(judged(...by).claims.map((claim) => claim.by)).toEqual([[active]]);
    expect(judged(old, old)).toMatchObject({ outcome: 'incomplete', claims: [] });
  });

  /** The key of the statement log's receipts was stolen as well; what it signed once was signed again with the new one. */
  const rotated: KeyManifest = {
    ...manifest,
    keys: [
      ...manifest.keys.map((key) =>
        key.role === 'statement_receipt'
          ? { ...key, state: 'revoked' as const, validUntilMs: manifest.issuedAtMs, revokedAt: { [LOG]: 7n } }
          : key,
      ),
      { ...manifest.keys.find(({ role }) => role === 'statement_receipt')!, keyId: toBase64Url(new Uint8Array(32)) },
    ],
  };
  const [stolen, fresh] = [inclusion({ tree_size: '9' }), inclusion({ tree_size: '9' }, UNLISTED)];
  const ofKind = (kind: ClaimKind, piece: string, ...by: Proof[]): Claim => ({ kind, piece, facts: {}, by });
  const under = (...claims: Claim[]) => judgeByManifest(createVerdict({ claims }), rotated);

  it.each(['statement', 'entry', 'event'] as const)(
    'sets a stolen key’s receipt for a leaf of a claim of kind %s aside if another receipt for the leaf counts, in this claim or another',
    (kind) => {
      const own = kind === 'entry' ? [] : [signature(keyOf('issuer', 'active'))];
      expect(under(ofKind(kind, 'a', ...own, stolen, fresh)).claims).toEqual([ofKind(kind, 'a', ...own, fresh)]);
      const [old, other] = [ofKind(kind, 'a', ...own, stolen), ofKind(kind, 'b', ...own, fresh)];
      for (const claims of [
        [old, other],
        [other, old],
      ]) {
        const judged = under(...claims);
        expect([judged.outcome, judged.claims.map(({ by }) => by)]).toEqual(['verified', claims.map(() => other.by)]);
      }
      const alone = under(old, ofKind(kind, 'b', ...own, stolen));
      expect([alone.outcome, alone.claims]).toEqual(['incomplete', []]);
    },
  );

  it('keeps a stolen key’s receipt, and so drops its claim, if what counts is for another leaf or in another kind of tree', () => {
    const own = signature(keyOf('issuer', 'active'));
    for (const other of [{ leaf: '01' }, { vds: 3, signed: 'peak' }]) {
      const key = 'vds' in other ? keyOf('seal', 'active') : UNLISTED;
      const judged = under(ofKind('statement', 'a', own, stolen), ofKind('statement', 'b', own, inclusion(other, key)));
      expect([judged.outcome, judged.claims.map(({ piece }) => piece)]).toEqual(['incomplete', ['b']]);
    }
  });

  it('judges a stolen issuer key’s statement by all receipts for its entry, whichever file brought them', () => {
    const [older, later] = [inclusion(), inclusion({ tree_size: '9' })];
    const of = (...claims: Claim[]) => judgeByManifest(createVerdict({ claims }), manifest).outcome;
    const [one, two] = [ofKind('statement', 'a', signature(), older), ofKind('statement', 'b', signature(), later)];
    expect([of(one), of(two), of(one, two)]).toEqual(['verified', 'incomplete', 'verified']);
    expect(under(ofKind('statement', 'a', signature(), stolen, fresh)).outcome).toBe('incomplete');
  });

  it('looks at each claim a few times, however many there are', () => {
    const looks = (count: number) => {
      let seen = 0;
      const claims = Array.from({ length: count }, (_, index): Claim => {
        const proof = inclusion({ vds: 3, leaf: String(index) }, keyOf('seal', 'active'));
        return {
          kind: 'statement',
          piece: `statement ${index}`,
          facts: {},
          get by() {
            seen += 1;
            return [signature(), proof];
          },
        };
      });
      judgeByManifest(createVerdict({ claims }), manifest);
      return seen / count;
    };
    expect(looks(200)).toBeLessThanOrEqual(looks(10));
  });

  it('refuses what a key signed that is listed for another role', () => {
    const [issuer, seal] = [keyOf('issuer', 'active'), keyOf('seal', 'active')];
    const wrong: [string, Proof[]][] = [
      ['log_key_not_trusted', [signature(issuer), inclusion({}, seal)]],
      ['log_key_not_trusted', [signature(issuer), inclusion({}, issuer)]],
      ['log_key_not_trusted', [inclusion({ vds: 3, signed: 'peak' })]],
      ['log_key_not_trusted', [{ type: 'seal', log: {}, vds: 3, tree_size: '1', sealed_at: '', key: receipts }]],
      ['issuer_key_not_trusted', [signature(seal), inclusion()]],
    ];
    for (const [code, by] of wrong) {
      const { outcome, claims, contradictions } = judge(by);
      expect([outcome, claims, contradictions.map((each) => each.code)]).toEqual(['refused', [], [code]]);
    }
  });

  it('refuses a statement in the deployment’s own name by a key that it does not list, and not one in another name', () => {
    const by = (issuer: string): Proof => ({ type: 'signature', issuer, issuer_pinned: true, key: UNLISTED });
    for (const name of [
      manifest.issuer,
      `${manifest.issuer}:0199c2d0-0000-7000-8000-00000000000a`,
      manifest.issuer.replace('archive.example', 'ARCHIVE.example'),
      manifest.issuer.replace('archive.example', 'archive%2eexample'),
      `${manifest.issuer.replace('didweb', 'did%77eb')}:0199c2d0-0000-7000-8000-00000000000a`,
    ]) {
      const own = judge([by(name), inclusion()]);
      expect([own.outcome, own.contradictions.map(({ code }) => code)]).toEqual([
        'refused',
        ['issuer_key_not_trusted'],
      ]);
    }
    for (const name of ['did:web:partner.example', 'did:web:archive.example', `${manifest.issuer}2`, 'did:web:%'])
      expect([name, judge([by(name), inclusion()]).outcome]).toEqual([name, 'verified']);
  });

  it('refuses a receipt or a seal of a log of the deployment by a key that it does not list, and not of another log', () => {
    const seal = (log: object): Proof => ({
      type: 'seal',
      log,
      vds: 3,
      tree_size: '1',
      sealed_at: '',
      key: UNLISTED,
    });
    const peak = (log: object) => inclusion({ vds: 3, signed: 'peak', log }, UNLISTED);
    const tenancy = 'tenant/0199c2d0-0000-7000-8000-00000000000a';
    for (const by of [
      inclusion({}, UNLISTED),
      inclusion({ log: { subject: `${LOG}.2` } }, UNLISTED),
      peak({ issuer: 'https://archive.example', subject: tenancy }),
      peak({ issuer: 'https://archive.example/', subject: tenancy }),
      seal({ issuer: 'https://archive.example', subject: tenancy }),
    ]) {
      const { outcome, claims, contradictions } = judge([by]);
      expect([outcome, claims, contradictions.map(({ code }) => code)]).toEqual([
        'refused',
        [],
        ['log_key_not_trusted'],
      ]);
    }
    for (const log of [{ issuer: 'https://partner.example', subject: tenancy }, { issuer: 'a partner' }, {}])
      expect(judge([peak(log)]).contradictions).toEqual([]);
  });

  it('does not let a stolen receipt key say when something was', () => {
    const { keys } = manifest;
    const stolen: KeyManifest = {
      ...manifest,
      keys: keys.map((key) =>
        key.role === 'statement_receipt'
          ? { ...key, state: 'revoked', validUntilMs: manifest.issuedAtMs, revokedAt: { [LOG]: 7n } }
          : key,
      ),
    };
    expect(judge([signature(), inclusion()], stolen).outcome).toBe('incomplete');
    expect(judge([signature(keyOf('issuer', 'active')), inclusion()], stolen).outcome).toBe('incomplete');
  });

  const sealed = (more: object = {}, key = keyOf('seal', 'active')): Proof => ({
    type: 'inclusion',
    log: { subject: 'tenant/0199c2d0-0000-7000-8000-00000000000a' },
    vds: 3,
    signed: 'peak',
    leaf: 'aa',
    leaf_index: '1',
    mmr_index: '1',
    key,
    ...more,
  });
  const witnessed = (more: object = {}): Proof => ({
    type: 'witness',
    origin: LOG,
    tree_size: '7',
    leaf_index: '3',
    witnesses: ['w'],
    ...more,
  });
  /** The seal key is revoked too, when the private statement log has seven entries. */
  const sealStolen: KeyManifest = {
    ...manifest,
    keys: manifest.keys.map((key) =>
      key.role === 'seal'
        ? { ...key, state: 'revoked', validUntilMs: manifest.issuedAtMs, revokedAt: { [LOG]: 7n } }
        : key,
    ),
  };
  const withWitness = (proof: Proof, by: readonly Proof[], from = sealStolen) =>
    judgeByManifest(
      createVerdict({
        claims: [
          { kind: 'event', piece: 'event', facts: { operation: 'x' }, by: [proof] },
          { kind: 'witnessed', piece: 'seal', facts: {}, by },
        ],
      }),
      from,
    );

  it('takes a state for witnessed only in a log that the manifest lists, whatever else the witnesses cosign', () => {
    const seal = sealed({ signed: 'seal', tree_size: '9' });
    expect(withWitness(sealed(), [seal, witnessed()], manifest).outcome).toBe('verified');
    const { outcome, claims, notCovered } = withWitness(
      sealed(),
      [seal, witnessed({ origin: 'evil.example/a' })],
      manifest,
    );
    expect([outcome, claims.map(({ kind }) => kind)]).toEqual(['incomplete', ['event']]);
    expect(notCovered[0]).toMatchObject({ piece: 'seal', why: 'unproven' });
  });

  it('counts what a revoked seal key sealed only if a witnessed seal over the same leaf was registered before', () => {
    const seal = (more: object = {}) => sealed({ signed: 'seal', tree_size: '9', ...more });
    expect(withWitness(sealed(), [seal(), witnessed()]).outcome).toBe('verified');
    expect(withWitness(sealed({ mmr_index: undefined }), [seal(), witnessed()]).outcome).toBe('verified');
    for (const by of [
      [seal()],
      [seal(), witnessed({ tree_size: '8' })],
      [seal(), witnessed({ origin: 'log/another' })],
      [seal(), witnessed({ witnesses: [] })],
      [seal({ leaf: 'bb' }), witnessed()],
      [seal({ mmr_index: '3' }), witnessed()],
    ]) {
      const verdict = withWitness(sealed(), by);
      expect(verdict.outcome).toBe('incomplete');
      expect(verdict.claims.filter(({ kind }) => kind === 'event')).toEqual([]);
    }
  });

  it('takes no size of a forked log for that of the log which the manifest names', () => {
    for (const generation of ['.1', '.2']) {
      const fork = `${LOG}${generation}`;
      expect(judge([signature(), inclusion({ log: { subject: fork }, tree_size: '3' })]).outcome).toBe('incomplete');
      const seal = sealed({ signed: 'seal', tree_size: '9' });
      const verdict = withWitness(sealed(), [seal, witnessed({ origin: fork, tree_size: '3' })]);
      expect(verdict.claims.filter(({ kind }) => kind === 'event')).toEqual([]);
    }
    const lost = inclusion({ log: { subject: `${LOG}.1` }, tree_size: '3' });
    expect(judge([signature(), lost, inclusion()]).outcome).toBe('verified');
  });

  it('says of a place of a forked log below the size at the first manifest that it proves no order, and of one above nothing', () => {
    const own = keyOf('issuer', 'active');
    const inFork = (index: string) => inclusion({ log: { subject: `${LOG}.1` }, leaf_index: index, tree_size: '9' });
    const told = judge([signature(own), inFork('6')]);
    expect([told.outcome, told.missing[0]!.detail]).toEqual([
      'verified',
      expect.stringMatching(/^a log that was forked openly .* does not prove that an entry is older \(statement\)$/),
    ]);
    expect(kinds(told)).toEqual(['order', 'later_manifests']);
    expect(kinds(judge([signature(own), inFork('7')]))).toEqual(['later_manifests']);
    expect(kinds(judge([signature(own), inFork('6'), inclusion()]))).toEqual(['key_history', 'later_manifests']);
  });

  it('takes a document away with the evidence that has its digest', () => {
    const document: Claim = {
      kind: 'document',
      piece: 'vcon.json',
      facts: {},
      by: [{ type: 'digest', of: 'statement', member: 'payload_hash' }],
    };
    const facts = { payload_hash: '00' };
    const of = (by: readonly Proof[], ...others: Claim[]) =>
      judgeByManifest(
        createVerdict({ claims: [{ kind: 'statement', piece: 'statement', facts, by }, ...others, document] }),
        manifest,
      );
    expect(of([signature(), inclusion()]).claims).toHaveLength(2);
    const unproven = of([signature()]);
    expect([unproven.outcome, unproven.claims]).toEqual(['incomplete', []]);
    expect(unproven.notCovered.map(({ piece }) => piece)).toEqual(['statement', 'vcon.json']);
    // That a log holds the statement's bytes says nothing of what is in them.
    const entry: Claim = { kind: 'entry', piece: 'statement', facts: {}, by: [inclusion({ tree_size: '9' })] };
    expect(of([signature()], entry).claims).toEqual([entry]);
  });

  it('does not guess the order of a tenancy log and the manifests: it says what proves it, or that nothing does', () => {
    const told = (verdict: ReturnType<typeof judge>) =>
      verdict.missing.filter(({ what }) => what !== 'later_manifests').map(({ what, detail }) => `${what}: ${detail}`);
    const [at, before] = [manifest.firstIssuedAtMs, manifest.firstIssuedAtMs - 1].map((ms) => ({
      committed: new Date(ms).toISOString(),
    }));
    expect(told(judge([sealed()], manifest, at))).toEqual([
      expect.stringMatching(/^order: whether .* is older than a key manifest is unproven: only its own log/),
    ]);
    expect(told(judge([sealed()], manifest, before))).toEqual([
      expect.stringMatching(/^key_history: its own log says that .* is older than the manifest, and no given seal/),
    ]);
    const first = manifest.logs.find(({ name }) => name === LOG)!.firstSize;
    const older = withWitness(sealed(), [sealed(), witnessed({ tree_size: String(first) })], manifest);
    expect(told(older)).toEqual([
      expect.stringMatching(/^key_history: 2 pieces are older than the manifest \(\w+, \w+\): manifest 1 was issued/),
    ]);
    const later = withWitness(sealed(), [sealed(), witnessed({ tree_size: String(first + 1n) })], manifest);
    expect(told(later)).toEqual([expect.stringMatching(/^order: /)]);
  });

  it('counts pieces whose order nothing proves, and those that are older than the first manifest, once: names the first three, and lists all of them', () => {
    const of = (count: number, what = 'order', facts: Facts = {}) => {
      const claims = Array.from(
        { length: count },
        (_, number): Claim => ({ kind: 'event', piece: `e${number}`, facts, by: [sealed()] }),
      );
      return judgeByManifest(createVerdict({ claims }), manifest).missing.filter((each) => each.what === what);
    };
    const [few, ...others] = of(3);
    expect([few!.detail, few!.pieces, others]).toEqual([
      expect.stringMatching(
        /^whether 3 pieces are older than a key manifest is unproven \(e0, e1, e2\): only their own logs/,
      ),
      undefined,
      [],
    ]);
    const [many] = of(200);
    expect(many!.detail).toMatch(
      /^whether 200 pieces are older than a key manifest is unproven \(e0, e1, e2, and 197 more\): /,
    );
    expect(many!.pieces).toHaveLength(200);
    const committed = new Date(manifest.firstIssuedAtMs - 1).toISOString();
    const history = of(200, 'key_history', { committed });
    expect(history.map(({ detail, pieces }) => [detail, pieces?.length])).toEqual([
      [
        expect.stringMatching(
          /^their own logs say that 200 pieces are older than the manifest \(e0, e1, e2, and 197 more\), and no given seal/,
        ),
        200,
      ],
    ]);
  });

  it('says of what is older than the first manifest that it is, by its place in the log or by its time', () => {
    const own = keyOf('issuer', 'active');
    expect(kinds(judge([signature(own), inclusion()]))).toContain('key_history');
    expect(kinds(judge([signature(own), inclusion({ leaf_index: '7', tree_size: '9' })]))).not.toContain('key_history');
    const at = (ms: number) => kinds(judge([signature(own)], manifest, { committed: new Date(ms).toISOString() }));
    expect(at(manifest.firstIssuedAtMs - 1)).toContain('key_history');
    expect(at(manifest.firstIssuedAtMs)).not.toContain('key_history');
  });

  it('keeps a contradiction, and what keys from elsewhere prove', () => {
    const refused = createVerdict({ contradictions: [{ code: 'malformed', piece: 'x', detail: 'x' }] });
    expect(judgeByManifest(refused, manifest).outcome).toBe('refused');
    expect(judge([signature({ thumbprint: '11'.repeat(32) })]).outcome).toBe('verified');
  });
});
