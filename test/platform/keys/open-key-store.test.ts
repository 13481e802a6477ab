import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { createDeploymentKeys } from '../../../src/platform/keys/create-keys.js';
import { keyFiles } from '../../../src/platform/keys/key-files.js';
import { verifiesAs } from '../../../src/platform/keys/key-fit.js';
import { DEPLOYMENT_ROLES, TOKEN_PEPPER } from '../../../src/platform/keys/key-role.js';
import type { KeyStore, PrivateKey } from '../../../src/platform/keys/key-store.js';
import { openKeyStore } from '../../../src/platform/keys/open-key-store.js';
import { openKeyring } from '../../../src/platform/keys/open-keyring.js';
import { loadPkcs11Module } from '../../../src/platform/keys/pkcs11/pkcs11-module.js';
import { secretFiles } from '../../../src/platform/keys/secret-files.js';
import {
  insertSigningKey,
  listSigningKeys,
  putSigningKey,
  type SigningKeyRow,
} from '../../../src/platform/keys/signing-key-store.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { softhsm } from '../../support/prerequisites.js';
import { breakSessions, makeSofthsmTokens, type SofthsmTokens } from '../../support/softhsm-tokens.js';

const DEPLOYMENT = '0190a8c0-0000-7000-8000-000000000001';
const AT = new Date(1_790_000_000_000);
const silent = pino({ level: 'silent' });

describe.skipIf(!softhsm)('a deployment of key files that is given a module', () => {
  let opened: TestDatabase;
  let keysDir: string;
  let tokens: SofthsmTokens;
  let store: KeyStore;
  beforeAll(async () => {
    opened = await engines()[0]!.open();
    keysDir = await mkdtemp(join(tmpdir(), 'keys-'));
    tokens = await makeSofthsmTokens(['archive']);
    Object.assign(process.env, tokens.environment);
    await opened.database.inTransaction('system', (tx) =>
      createDeploymentKeys(tx, keyFiles(keysDir), secretFiles(keysDir), DEPLOYMENT, AT),
    );
    store = await openKeyStore({ keysDir, keyProvider: tokens.token('archive') }, silent);
  });
  afterAll(async () => {
    await store?.close();
    await tokens?.remove();
    await rm(keysDir, { recursive: true });
    await opened.close();
  });

  const rows = () => opened.database.inTransaction('system', (tx) => listSigningKeys(tx, DEPLOYMENT));
  const pems = async () => (await readdir(keysDir)).filter((name) => name.endsWith('.pem'));
  const openWith = async (keys: KeyStore) => {
    const pepper = await secretFiles(keysDir).secret(TOKEN_PEPPER, () => new Uint8Array(32));
    return openKeyring(await rows(), keys, { pepper, pageTokenKey: pepper });
  };

  /** Of each active key of the deployment. */
  async function places(): Promise<Record<string, PrivateKey['place'] | undefined>> {
    const active = (await rows()).filter(
      (row): row is SigningKeyRow & { role: (typeof DEPLOYMENT_ROLES)[number] } =>
        row.state === 'active' && DEPLOYMENT_ROLES.some((role) => role === row.role),
    );
    const found = await Promise.all(active.map(async (row) => [row.role, (await store.open(row))?.place] as const));
    return Object.fromEntries(found);
  }
  const everywhere = (place: PrivateKey['place']) => Object.fromEntries(DEPLOYMENT_ROLES.map((role) => [role, place]));

  async function replaceKey(role: (typeof DEPLOYMENT_ROLES)[number]): Promise<void> {
    const before = (await rows()).find((row) => row.role === role && row.state === 'active')!;
    const made = await store.generate(role);
    await opened.database.inTransaction('system', async (tx) => {
      await putSigningKey(tx, DEPLOYMENT, { ...before, state: 'retired', validUntil: AT });
      await insertSigningKey(tx, DEPLOYMENT, { ...before, ...made });
    });
  }

  it('signs on with the files, and goes over to the module role by role, as each is rotated', async () => {
    const before = await pems();
    expect(await places()).toEqual(everywhere('file'));
    const keyring = await openWith(store);
    for (const role of DEPLOYMENT_ROLES) {
      await replaceKey(role);
      expect((await places())[role]).toBe('module');
    }
    expect(await places()).toEqual(everywhere('module'));
    expect((await pems()).sort()).toEqual(before.sort());
    await keyring.adopt(await rows());
    const [key] = keyring.publicKeys(['seal']);
    expect(verifiesAs({ ...key!.jwk }, utf8('a seal'), await keyring.signer('seal').sign(utf8('a seal')))).toBe(true);
  });

  it('needs no file any more once every role was rotated', async () => {
    await Promise.all((await pems()).map((name) => rm(join(keysDir, name))));
    expect((await openWith(store)).signer('issuer')).toBeDefined();
  });

  it('is refused without its module, by the key that is missing and the setting that would bring it', async () => {
    await expect(openWith(keyFiles(keysDir))).rejects.toThrow(
      /private half of the active key \S+ is missing: .*or KEY_PROVIDER to its module/,
    );
  });
});

describe.skipIf(!softhsm)('a module that makes no keys of elliptic curves', () => {
  let keysDir: string;
  let tokens: SofthsmTokens;
  let store: KeyStore;
  beforeAll(async () => {
    keysDir = await mkdtemp(join(tmpdir(), 'keys-'));
    tokens = await makeSofthsmTokens(['archive'], 'slots.mechanisms = CKM_RSA_PKCS_KEY_PAIR_GEN,CKM_SHA256_RSA_PKCS');
    Object.assign(process.env, tokens.environment);
    await (await loadPkcs11Module(tokens.token('archive').modulePath)).beginAnew();
    store = await openKeyStore({ keysDir, keyProvider: tokens.token('archive') }, silent);
  });
  afterAll(async () => {
    await store?.close();
    // Whoever uses the module next in this process has other settings.
    if (tokens) breakSessions('C_Finalize');
    await tokens?.remove();
    await rm(keysDir, { recursive: true });
  });

  it.each(['issuer', 'statement_receipt', 'seal', 'tessera', 'root'] as const)(
    'is refused for %s: no key that evidence depends on becomes a file because a module lacks its kind',
    async (role) => {
      await expect(store.generate(role)).rejects.toThrow(`the module makes no ES256 key for ${role}`);
      expect(await readdir(keysDir)).toEqual([]);
    },
  );

  it('is used for the others, and the keys of checkpoints and of the chain are files', async () => {
    const place = async (role: 'token' | 'note' | 'chain') =>
      (await store.open({ role, ...(await store.generate(role)) }))?.place;
    expect([await place('token'), await place('note'), await place('chain')]).toEqual(['module', 'file', 'file']);
  });
});
