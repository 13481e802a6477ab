import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { compareWaiting } from '../../src/cli/monitor/compare-registered.js';
import { LogUnreachable } from '../../src/cli/monitor/fetch-file.js';
import { followMmrLog } from '../../src/cli/monitor/follow-mmr-log.js';
import { followStatementLog } from '../../src/cli/monitor/follow-statement-log.js';
import { KeysOutdated } from '../../src/cli/monitor/keys-outdated.js';
import { addWaiting, readRegistered, waitingSeals } from '../../src/cli/monitor/registered-seals.js';
import { utf8 } from '../../src/core/bytes.js';
import { type CborMap, encodeCbor } from '../../src/core/cose/cbor.js';
import { Claim, CONFIRMATION_KEY, Header } from '../../src/core/cose/labels.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import type { Signer } from '../../src/core/cose/signature.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY, sampleSigners } from '../core/verify/sample-transparent-statement.js';
import { followRig } from './follow-rig.js';
import { publishedTenancyLog, sampleStatementLog } from './sample-published-logs.js';

const ORIGIN = 'log/0192e8f5-0000-7000-8000-000000000009';
const { sealer, stranger } = sampleSigners;
const TRUST = { logKeys: [sealer.publicKey] };
const newerKeys = async () => true;
const rig = followRig();

describe('a key that the monitor does not know', () => {
  it('on a checkpoint is looked up again, and is an alarm only if no newer key manifest has it', async () => {
    const [log, known] = [sampleStatementLog(ORIGIN), sampleStatementLog(ORIGIN)];
    rig.answer = log.published([utf8('an entry')]);
    const followed = {
      url: `${rig.url}/log`,
      origin: ORIGIN,
      keys: [known.key],
      publishesEntries: true,
      registered: async () => {},
      readAll: () => {},
      now: Date.now,
    };
    await expect(followStatementLog({ ...followed, outdated: newerKeys }, rig.kept)).rejects.toThrow(KeysOutdated);
    expect(await readdir(rig.folder)).toEqual([]);
    const refused = followStatementLog({ ...followed, outdated: async () => false }, rig.kept);
    await expect(refused).rejects.toMatchObject({ code: 'log_key_not_trusted' });
    expect(await readdir(rig.folder)).toEqual(['alarm']);
  });

  it('in a registered seal is looked up again before the seal is skipped', async () => {
    const entry = await sampleSealedLog({ leaves: 5, signer: stranger }).seal();
    await addWaiting(rig.kept, [readRegistered(ORIGIN, { index: 0n, entry })!]);
    await expect(compareWaiting(TRUST, rig.kept, newerKeys)).rejects.toThrow(KeysOutdated);
    expect(await waitingSeals(rig.kept)).toHaveLength(1);
    const { judge } = await compareWaiting(TRUST, rig.kept, async () => false);
    expect(await judge(undefined, async () => [])).toMatchObject({ unknown: 1, held: 0 });
  });

  it('in a registered seal may be of a kind that nobody can read', async () => {
    const seal = decodeSign1(await sampleSealedLog({ leaves: 5 }).seal());
    const { protectedHeader } = seal;
    const claims = new Map(protectedHeader.get(Header.claims) as CborMap);
    claims.set(Claim.confirmation, new Map([[CONFIRMATION_KEY, new Map([[1, 99]])]]));
    const header = new Map(protectedHeader).set(Header.claims, claims).set(Header.draftClaims, claims);
    const entry = encodeSign1({ ...seal, protectedBytes: encodeCbor(header) });
    await addWaiting(rig.kept, [readRegistered(ORIGIN, { index: 0n, entry })!]);
    const { judge } = await compareWaiting(TRUST, rig.kept, undefined);
    expect(await judge(undefined, async () => [])).toMatchObject({ unknown: 1, held: 0 });
  });
});

it('a state under a seal by a stolen key is not adopted, unless it was seen before', async () => {
  const look = (trusted: Signer, revoked?: Signer) =>
    followMmrLog(
      {
        url: rig.url,
        tenancy: SAMPLE_TENANCY,
        subject: `tenant/${SAMPLE_TENANCY}`,
        trust: { logKeys: [trusted.publicKey] },
        revokedKeys: revoked && [revoked.publicKey],
        random: () => 0,
        now: Date.now,
        mustBeCovered: () => false,
      },
      rig.kept,
    );
  const [stolen, fresh] = [sampleSealedLog({ leaves: 6, signer: stranger }), sampleSealedLog({ leaves: 7 })];
  rig.answer = publishedTenancyLog(stolen, 5);
  await expect(look(sealer, stranger)).rejects.toThrow(LogUnreachable);
  expect(await readdir(rig.folder)).toEqual([]);
  await look(stranger);
  expect(await look(sealer, stranger)).toContain('5 leaves');
  const before = await rig.kept.read('head.sth');
  rig.answer = publishedTenancyLog(stolen, 6);
  const refused = look(sealer, stranger);
  await expect(refused).rejects.toThrow('by a key that was revoked as stolen: this state is not adopted');
  expect(await rig.kept.read('head.sth')).toEqual(before);
  rig.answer = publishedTenancyLog(fresh, 7);
  expect(await look(sealer, stranger)).toContain('7 leaves');
});
