import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeVkey, NoteKeyType } from '../../src/core/tlog/signed-note.js';
import { ConfigError, parseConfig } from '../../src/service/config/config.js';

describe('the configuration', () => {
  it('has a working default for everything', () => {
    expect(parseConfig({})).toEqual({
      role: 'all',
      http: {
        host: '127.0.0.1',
        port: 8080,
        trustProxy: undefined,
        tls: undefined,
        connections: { total: 4096, perAddress: 1024 },
        metrics: undefined,
        metricsToken: undefined,
        corsOrigins: [],
        rateLimit: undefined,
        downloadBudget: 1024 ** 3,
      },
      publicUrl: 'http://127.0.0.1:8080',
      dataDir: resolve('data'),
      keysDir: resolve('data/keys'),
      databaseUrl: undefined,
      redisUrl: undefined,
      objectStore: { folder: resolve('data/objects') },
      minFreeDiskBytes: 64 * 1024 * 1024,
      blobs: { limit: 512 * 1024 * 1024, clamavUrl: undefined, scanSchedule: '0 3 * * *' },
      anchorSchedule: '*/10 * * * * *',
      auditSchedule: '17 3 * * 0',
      quotas: {
        applications: 1000,
        compliance_policies: 1000,
        locations: 100_000,
        access_policies: 1000,
        tls_ca_certificates: 1000,
      },
      logFiles: 'public',
      witnessing: { witnesses: [], quorum: 0, everySeconds: 10 },
      maxWaitingEntries: 5_000_000,
      bootstrap: { clientId: undefined, clientSecret: undefined, plugin: undefined },
      logFormat: 'json',
      mail: { smtpUrl: undefined, from: 'vcon-archivist@127.0.0.1' },
      allowPrivate: false,
      massifHeight: 14,
      logLevel: 'warn',
      hashEnvelopeLabels: 'private',
      payloadHash: { issuersFile: undefined, path: '/payload-hash', perSecond: 20 },
      plugin: {
        host: '127.0.0.1',
        port: 8081,
        secret: undefined,
        tls: undefined,
        failOpen: false,
        drainSeconds: 0,
        bulk: true,
        receipts: true,
        reports: true,
        receiptUrl: undefined,
        receiptKey: undefined,
        receiptDays: 90,
        conserverRedisUrl: undefined,
        stream: 'vcon-evidence',
        tapList: undefined,
        endings: true,
        archivistUrl: undefined,
        clientId: undefined,
        clientSecret: undefined,
        tenanciesFile: undefined,
      },
      failpoint: undefined,
    });
  });

  it.each([
    ['PORT', '9000', { http: { port: 9000 }, publicUrl: 'http://127.0.0.1:9000' }],
    ['PUBLIC_URL', 'https://a.example/base/', { publicUrl: 'https://a.example/base' }],
    ['TRUST_PROXY', '2', { http: { trustProxy: 2 } }],
    ['TRUST_PROXY', 'loopback, 10.0.0.0/8', { http: { trustProxy: 'loopback, 10.0.0.0/8' } }],
    [
      'TRUST_PROXY',
      '::1,fd00::/8,10.0.0.0/255.0.0.0,uniquelocal',
      { http: { trustProxy: '::1,fd00::/8,10.0.0.0/255.0.0.0,uniquelocal' } },
    ],
    ['LOG_FILES', 'members', { logFiles: 'members' }],
    ['RATE_LIMIT', '20', { http: { rateLimit: 20 } }],
    [
      'QUOTAS',
      'blobs=5, applications=unlimited',
      { quotas: { compliance_policies: 1000, locations: 100_000, blobs: 5 } },
    ],
    ['DATA_DIR', '/srv/a', { dataDir: '/srv/a', keysDir: '/srv/a/keys', objectStore: { folder: '/srv/a/objects' } }],
    ['KEYS_DIR', '/keys', { keysDir: '/keys' }],
    ['OBJECT_STORE_URL', 'file:///srv/o%20o', { objectStore: { folder: '/srv/o o' } }],
    ['OBJECT_STORE_URL', 's3://evidence', { objectStore: { bucket: 'evidence', prefix: '', region: 'us-east-1' } }],
    ['OBJECT_STORE_URL', 's3://evidence/a/b/', { objectStore: { bucket: 'evidence', prefix: 'a/b/' } }],
    ['DATABASE_URL', 'postgres://u:p@h/d', { databaseUrl: 'postgres://u:p@h/d' }],
    ['DATABASE_URL', 'postgres://h/d?sslmode=verify-full', { databaseUrl: 'postgres://h/d?sslmode=verify-full' }],
    ['REDIS_URL', 'rediss://h:6380', { redisUrl: 'rediss://h:6380' }],
    [
      'BOOTSTRAP_CLIENT_ID',
      '0190A8C0-0000-7000-8000-000000000001',
      { bootstrap: { clientId: '0190a8c0-0000-7000-8000-000000000001' } },
    ],
    ...['/run/clamd.sock', 'unix:/run/clamd.sock', 'tcp://clamd:3310'].map((clamavUrl): [string, string, object] => [
      'CLAMAV_URL',
      clamavUrl,
      { blobs: { clamavUrl } },
    ]),
    ['MASSIF_HEIGHT', '3', { massifHeight: 3 }],
    ['LOG_LEVEL', 'debug', { logLevel: 'debug' }],
    ['PORT', '', { http: { port: 8080 } }],
  ])('reads %s=%s', (name, value, expected) => {
    expect(parseConfig({ [name]: value })).toMatchObject(expected);
  });

  it.each([
    ['ROLE', 'master', 'ROLE: '],
    ['PORT', '70000', 'PORT: must be a port number, from 0 to 65535'],
    ['PORT', '8o80', 'PORT: must be a port number, from 0 to 65535'],
    ['TRUST_PROXY', 'yes', 'TRUST_PROXY: must be a number of proxies'],
    ['TRUST_PROXY', '-1', 'TRUST_PROXY: must be a number of proxies'],
    ['TRUST_PROXY', 'loopback, 10.0.0.0/33', 'TRUST_PROXY: must be a number of proxies'],
    ['TRUST_PROXY', 'proxy.example', 'TRUST_PROXY: must be a number of proxies'],
    ['PUBLIC_URL', 'ftp://a', 'PUBLIC_URL: must be a URL'],
    ['PUBLIC_URL', 'https://a.example/?x', 'PUBLIC_URL: must have no query'],
    ['DATABASE_URL', 'mysql://a', 'DATABASE_URL: must be a URL that begins with postgres://'],
    ['DATABASE_URL', 'postgres://a:b#c@d/e', 'DATABASE_URL: must be a URL with one host. Write special characters'],
    ['DATABASE_URL', 'postgres://a:b@c:1,d:2/e', 'DATABASE_URL: must be a URL with one host. Write special characters'],
    [
      'DATABASE_URL',
      'postgres://a:b@c,d:2/e',
      'DATABASE_URL: must have one host, not a list of hosts: name an address',
    ],
    ['DATABASE_URL', 'postgres://c,d/e', 'DATABASE_URL: must have one host, not a list of hosts: name an address'],
    [
      'DATABASE_URL',
      'postgres:///e?host=c,d',
      'DATABASE_URL: must have one host, not a list of hosts: name an address',
    ],
    ['REDIS_URL', 'redis://c,d:2', 'REDIS_URL: must have one host, not a list of hosts: name an address'],
    ['REDIS_URL', 'redis://:b/c@d', 'REDIS_URL: must be a URL with one host. Write special characters'],
    [
      'DATABASE_URL',
      'postgres://h/d?ssl_mode=verify-full',
      'DATABASE_URL: must have no parameter about TLS but sslmode',
    ],
    ['DATABASE_URL', 'postgres://h/d?sslMode=require', 'DATABASE_URL: must have no parameter about TLS but sslmode'],
    ['REDIS_URL', 'localhost:6379', 'REDIS_URL: must be a URL that begins with redis://'],
    ...[
      's3://',
      's3://A',
      's3://bucket?region=x',
      's3://bucket//a',
      's3://bucket/../a',
      's3://u:p@bucket',
      's3://bucket/.a',
    ].map((value): [string, string, string] => [
      'OBJECT_STORE_URL',
      value,
      'OBJECT_STORE_URL: must be s3://<bucket> or',
    ]),
    ['OBJECT_STORE_URL', '/srv/objects', 'OBJECT_STORE_URL: must be a URL'],
    ['AWS_ENDPOINT_URL_S3', 'minio:9000', 'AWS_ENDPOINT_URL_S3: must be a URL'],
    ['AWS_ACCESS_KEY_ID', 'x', 'AWS_ACCESS_KEY_ID: must be set together with AWS_SECRET_ACCESS_KEY'],
    ['AWS_SECRET_ACCESS_KEY', 'x', 'AWS_ACCESS_KEY_ID: must be set together with AWS_SECRET_ACCESS_KEY'],
    ['BOOTSTRAP_CLIENT_ID', 'me', 'BOOTSTRAP_CLIENT_ID: must be a UUID'],
    ['BOOTSTRAP_CLIENT_SECRET', 'short', 'BOOTSTRAP_CLIENT_SECRET: must have at least 32'],
    ...['clamd:3310', 'clamd', 'tcp://clamd', 'unix:'].map((value): [string, string, string] => [
      'CLAMAV_URL',
      value,
      'CLAMAV_URL: must be tcp://host:port or the path of a socket',
    ]),
    [
      'BOOTSTRAP_PLUGIN_CLIENT_ID',
      '0190a8c0-0000-7000-8000-000000000001',
      'BOOTSTRAP_PLUGIN_CLIENT_ID: must be set together with BOOTSTRAP_PLUGIN_CLIENT_SECRET',
    ],
    [
      'BOOTSTRAP_PLUGIN_CLIENT_SECRET',
      'x'.repeat(32),
      'BOOTSTRAP_PLUGIN_CLIENT_ID: must be set together with BOOTSTRAP_PLUGIN_CLIENT_SECRET',
    ],
    ['MASSIF_HEIGHT', '1', 'MASSIF_HEIGHT: must be between 2 and 20'],
    ['MASSIF_HEIGHT', '100', 'MASSIF_HEIGHT: must be between 2 and 20'],
    ['RATE_LIMIT', '0', 'RATE_LIMIT: must be a whole number of requests, from 1 to 9999999'],
    ['BLOB_LIMIT', '0', 'BLOB_LIMIT: must be a whole number of bytes, from 1 to '],
    ['DOWNLOAD_BUDGET', '1.5', 'DOWNLOAD_BUDGET: must be a whole number of bytes, from 1 to '],
    ['MIN_FREE_DISK_BYTES', '-1', 'MIN_FREE_DISK_BYTES: must be a whole number of bytes, 0 or more'],
    ['CONNECTIONS', '0', 'CONNECTIONS: must be a whole number of connections, from 1 to 999999'],
    ['PLUGIN_RECEIPT_DAYS', '0', 'PLUGIN_RECEIPT_DAYS: must be a whole number of days, from 1 to 99999'],
    ['PAYLOAD_HASH_RATE', '0', 'PAYLOAD_HASH_RATE: must be a whole number of requests, from 1 to 999999'],
    ['QUOTAS', 'event=1000', 'the names are applications, tls_ca_certificates, '],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL: '],
    ['PLUGIN_SECRET', 'short', 'PLUGIN_SECRET: must have at least 16'],
    ['PLUGIN_SECRET', 'no bearer token has spaces', 'PLUGIN_SECRET: must have at least 16 characters, of ASCII and'],
    ['ARCHIVIST_CLIENT_SECRET', 'x', 'ARCHIVIST_CLIENT_ID: must be set together'],
    ['PLUGIN_TLS_CERT', 'cert.pem', 'PLUGIN_TLS_CERT: must be set together with PLUGIN_TLS_KEY'],
    ['PLUGIN_TLS_KEY', 'key.pem', 'PLUGIN_TLS_CERT: must be set together with PLUGIN_TLS_KEY'],
    ['PLUGIN_TLS_CLIENT_CA', 'ca.pem', 'PLUGIN_TLS_CLIENT_CA: needs PLUGIN_TLS_CERT and PLUGIN_TLS_KEY'],
    ['CONSERVER_TAP_LIST', 'out', 'CONSERVER_TAP_LIST: needs CONSERVER_REDIS_URL'],
    ['PLUGIN_RECEIPT_KEY', 'receipt:{uuid}:{hash}', 'PLUGIN_RECEIPT_KEY: needs CONSERVER_REDIS_URL'],
    ['PLUGIN_RECEIPT_KEY', 'receipt:{uuid}', 'PLUGIN_RECEIPT_KEY: must contain {uuid} and {hash}'],
    ['TLS_CERTIFICATE_FILE', 'cert.pem', 'TLS_CERTIFICATE_FILE: must be set together'],
    ['TLS_KEY_FILE', 'key.pem', 'TLS_CERTIFICATE_FILE: must be set together'],
  ])('refuses %s=%s by name', (name, value, message) => {
    expect(() => parseConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => parseConfig({ [name]: value })).toThrow(message);
  });

  it('names every wrong variable at once, and tells no value', () => {
    const parse = () => parseConfig({ PORT: 'p', BOOTSTRAP_CLIENT_SECRET: 'hunter2', REDIS_URL: 'hunter2' });
    expect(parse).toThrow(/PORT: .*REDIS_URL: .*BOOTSTRAP_CLIENT_SECRET: /);
    expect(parse).not.toThrow(/hunter2/);
  });

  it('takes the place of objects in S3 from the variables of AWS', () => {
    const { objectStore } = parseConfig({
      DATA_DIR: '/srv/a',
      OBJECT_STORE_URL: 's3://evidence/one',
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_S3: 'https://minio.example:9000/',
      AWS_ENDPOINT_URL: 'https://other.example',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token',
    });
    expect(objectStore).toEqual({
      bucket: 'evidence',
      prefix: 'one/',
      region: 'eu-central-1',
      uploadsDir: '/srv/a/uploads',
      endpoint: 'https://minio.example:9000',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
    });
  });

  it('gives a part of the program no database of its own', () => {
    for (const ROLE of ['api', 'ledger', 'worker']) {
      expect(() => parseConfig({ ROLE })).toThrow('needs DATABASE_URL');
      expect(parseConfig({ ROLE, DATABASE_URL: 'postgres://h/d' }).role).toBe(ROLE);
    }
  });

  it('takes any free port only under a public URL that stays', () => {
    expect(() => parseConfig({ PORT: '0' })).toThrow('set PUBLIC_URL, which must stay the same');
    expect(parseConfig({ PORT: '0', PUBLIC_URL: 'http://a.example' }).publicUrl).toBe('http://a.example');
  });

  it('shows the plugin beyond loopback only behind a secret', () => {
    expect(parseConfig({ HOST: '0.0.0.0' }).plugin.host).toBe('127.0.0.1');
    expect(parseConfig({ HOST: '0.0.0.0', PLUGIN_SECRET: 'a'.repeat(16) }).plugin.host).toBe('0.0.0.0');
  });

  it('takes no witness twice, which would make a quorum by itself, and no quorum of more than there are', () => {
    const key = (byte: number) => new Uint8Array(32).fill(byte);
    const witness = (name: string, publicKey: Uint8Array) =>
      `${encodeVkey({ name, type: NoteKeyType.cosignature, publicKey })} http://${name}`;
    const given = (...list: string[]) => parseConfig({ WITNESSES: list.join(', ') });
    expect(given(witness('a.example', key(1)), witness('b.example', key(2))).witnessing.quorum).toBe(2);
    expect(() => given(witness('a.example', key(1)), witness('a.example', key(2)))).toThrow(/WITNESSES/);
    expect(() => given(witness('a.example', key(1)), witness('b.example', key(1)))).toThrow(/WITNESSES/);
    expect(() => parseConfig({ WITNESSES: witness('a.example', key(1)), WITNESS_QUORUM: '2' })).toThrow(
      'WITNESS_QUORUM: is larger than the number of WITNESSES, 1',
    );
  });

  it('cannot be changed afterwards', () => {
    const config = parseConfig({});
    const { mail, http, bootstrap, blobs, witnessing, payloadHash, plugin } = config;
    const sections = { config, mail, http, bootstrap, blobs, witnessing, payloadHash, plugin };
    expect(Object.entries(sections).filter(([, section]) => !Object.isFrozen(section))).toEqual([]);
  });
});
