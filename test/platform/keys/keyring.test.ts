import { createPublicKey } from 'node:crypto';
import { copyFile, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fromBase64, fromHex, toBase64Url, utf8 } from '../../../src/core/bytes.js';
import { keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { createDeploymentKeys, createTenancyKeys } from '../../../src/platform/keys/create-keys.js';
import { keyFiles } from '../../../src/platform/keys/key-files.js';
import { TOKEN_PEPPER } from '../../../src/platform/keys/key-role.js';
import type { Keyring } from '../../../src/platform/keys/keyring.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';
import { openKeyring } from '../../../src/platform/keys/open-keyring.js';
import { secretFiles } from '../../../src/platform/keys/secret-files.js';
import { listSigningKeys } from '../../../src/platform/keys/signing-key-store.js';
import { walletAddress } from '../../../src/platform/keys/wallet-address.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const DEPLOYMENT = '0190a8c0-0000-7000-8000-000000000001';
const TENANT = '0190a8c0-0000-7000-8000-000000000002';
const AT = new Date(1_790_000_000_000);
const EVIDENCE = ['issuer', 'statement_receipt', 'seal', 'note'] as const;

describe.each(engines())('the keyring on %s', (engine) => {
  let opened: TestDatabase;
  let folder: string;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'keys-')), 'keys');
    await opened.asOwner('DELETE FROM archivist.signing_key');
    await opened.database.inTransaction('system', (tx) =>
      createDeploymentKeys(tx, keyFiles(folder), secretFiles(folder), DEPLOYMENT, AT),
    );
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function open(): Promise<Keyring> {
    const secrets = secretFiles(folder);
    const random = (count: number) => new Uint8Array(count).fill(9);
    const rows = await opened.database.inTransaction('system', (tx) => listSigningKeys(tx, DEPLOYMENT));
    return openKeyring(rows, keyFiles(folder), {
      pepper: await secrets.secret(TOKEN_PEPPER, random),
      pageTokenKey: await secrets.secret('page-token-key', random),
    });
  }

  it('signs with a key of its own for each role, under its thumbprint, for any verifier', async () => {
    const keyring = await open();
    const kids = new Set<string>();
    for (const role of EVIDENCE) {
      const signer = keyring.signer(role);
      const [published] = keyring.publicKeys([role]);
      const signature = await signer.sign(utf8('message'));
      expect([signer.kid, toBase64Url(signer.kid)]).toEqual([keyThumbprint(signer.publicKey), published!.keyId]);
      expect(published!.jwk).toMatchObject(signer.publicKey);
      for (const verify of [nodeVerify, webCryptoVerify]) {
        expect(await verify(published!.jwk, signer.alg, utf8('message'), signature)).toBe(true);
        expect(await verify(published!.jwk, signer.alg, utf8('other'), signature)).toBe(false);
      }
      kids.add(published!.keyId);
    }
    expect(kids.size).toBe(EVIDENCE.length);
  });

  it('signs access tokens with RS256 under the published key', async () => {
    const keyring = await open();
    const [key] = keyring.publicKeys(['token']);
    const token = await keyring.signToken({ sub: 'x' }, { typ: 'at+jwt' });
    const { payload, protectedHeader } = await jwtVerify(token, createPublicKey({ key: key!.jwk, format: 'jwk' }));
    expect([payload, protectedHeader]).toEqual([{ sub: 'x' }, { alg: 'RS256', typ: 'at+jwt', kid: key!.keyId }]);
  });

  it('keeps private halves in files of the owner alone, and public ones in the database without them', async () => {
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const rows = await opened.asOwner('SELECT public_jwk FROM archivist.signing_key');
    for (const row of rows) expect(Object.keys(row['public_jwk'] as object)).not.toContain('d');
  });

  it('is refused when the private half of an active key is missing, by the name of the key', async () => {
    const [seal] = (await open()).publicKeys(['seal']);
    await rm(join(folder, `${seal!.keyId}.pem`));
    await expect(open()).rejects.toThrow(`private half of the active key ${seal!.keyId} is missing`);
  });

  it('is refused when a private half is another key’s, by the name of the key', async () => {
    const [seal] = (await open()).publicKeys(['seal']);
    const [token] = (await open()).publicKeys(['token']);
    await copyFile(join(folder, `${token!.keyId}.pem`), join(folder, `${seal!.keyId}.pem`));
    await expect(open()).rejects.toThrow(`private half of the active key ${seal!.keyId} is another key's`);
  });

  it('is refused when the pepper is lost or another one: no client secret would be known', async () => {
    await rm(join(folder, TOKEN_PEPPER));
    await expect(open()).rejects.toThrow('another token-pepper');
  });

  it.each([
    ['page-token-key', 'delete it, and the next start makes a new one'],
    [TOKEN_PEPPER, 'restore it from a backup of KEYS_DIR'],
  ])(
    'is refused when the secret %s was cut short or overwritten, with its file and a way out',
    async (name, wayOut) => {
      for (const damaged of ['', 'A'.repeat(21), '\0'.repeat(43)]) {
        await writeFile(join(folder, name), damaged);
        await expect(open()).rejects.toThrow(`${join(folder, name)} does not hold a secret of 32 bytes: ${wayOut}`);
      }
    },
  );

  it('is the same in two services that share folder and database', async () => {
    const [first, second] = await Promise.all([open(), open()]);
    expect(first.pepper).toEqual(second.pepper);
    expect(first.pageTokenKey).toEqual(second.pageTokenKey);
    const signature = await first.signer('seal').sign(utf8('m'));
    expect(await nodeVerify(second.publicKeys(['seal'])[0]!.jwk, -7, utf8('m'), signature)).toBe(true);
  });

  it('still publishes a retired key with its interval, and signs with the active one', async () => {
    const before = (await open()).publicKeys(['issuer'])[0]!;
    await opened.asOwner(`UPDATE archivist.signing_key SET state = 'retired', valid_until = $1 WHERE role = 'issuer'`, [
      new Date(AT.getTime() + 1000),
    ]);
    await expect(open()).rejects.toThrow('no active key for the role issuer');
    await opened.asOwner(`DELETE FROM archivist.signing_key WHERE role <> 'issuer'`);
    await opened.database.inTransaction('system', (tx) =>
      createDeploymentKeys(tx, keyFiles(folder), secretFiles(folder), DEPLOYMENT, new Date(AT.getTime() + 1000)),
    );
    const keys = (await open()).publicKeys(['issuer']);
    expect(keys.map(({ state }) => state)).toEqual(['active', 'retired']);
    expect(keys[1]).toMatchObject({ keyId: before.keyId, validUntil: new Date(AT.getTime() + 1000) });
    expect(toBase64Url((await open()).signer('issuer').kid)).toBe(keys[0]!.keyId);
  });

  it('gives each tenancy a wallet and a tessera key', async () => {
    const files = keyFiles(folder);
    const address = await opened.database.inTransaction('system', (tx) =>
      createTenancyKeys(tx, files, TENANT, AT, async () => Uint8Array.of(1)),
    );
    const rows = await opened.database.inTransaction({ read: [TENANT], write: [] }, (tx) =>
      listSigningKeys(tx, TENANT),
    );
    expect(rows.map((row) => row.role).sort()).toEqual(['tessera', 'wallet']);
    const { x, y } = rows.find((row) => row.role === 'wallet')!.publicJwk;
    expect(address).toBe(walletAddress(new Uint8Array([...fromBase64(x!), ...fromBase64(y!)])));
  });
});

describe('a wallet address', () => {
  it('is the end of the Keccak-256 of the public key, with the checksum of EIP-55', () => {
    // The public key of the private key 1 is the curve's generator; its address is widely known.
    const generator = fromHex(
      '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
    );
    expect(walletAddress(generator)).toBe('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf');
    expect(() => walletAddress(generator.subarray(1))).toThrow(TypeError);
  });
});

describe('a secret in the key folder', () => {
  it('is one and the same for nodes that start together', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keys-'));
    let drawn = 0;
    const draw = (count: number) => new Uint8Array(count).fill(++drawn);
    const secrets = await Promise.all(Array.from({ length: 8 }, () => secretFiles(folder).secret('s', draw)));
    for (const secret of secrets) expect(secret).toEqual(secrets[0]);
    await rm(folder, { recursive: true });
  });
});
