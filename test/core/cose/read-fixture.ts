import { readFileSync } from 'node:fs';

/** One of our known answers under fixtures/cose. */
export function readFixture<Known>(name: string): Known {
  const url = new URL(`../../../fixtures/cose/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Known;
}

/** The private keys of the tests. They are public: never use them. */
export interface TestKeys {
  readonly issuer: Record<string, string>;
  readonly statementLog: Record<string, string>;
  readonly sealer: Record<string, string>;
  readonly sealer384: Record<string, string>;
  readonly ed25519: Record<string, string>;
  readonly stranger: Record<string, string>;
}

/** A key of a known answer, in hex. */
export interface HexKey {
  readonly crv: 'P-256' | 'P-384';
  readonly d: string;
  readonly x: string;
  readonly y: string;
  readonly kid: string;
}
