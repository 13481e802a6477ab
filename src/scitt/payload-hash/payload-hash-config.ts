import { resolve } from 'node:path';
import { z } from 'zod';
import { countOf } from '../../platform/config-values.js';

/**
 * The payload-hash profile, for the conserver's stock SCITT link. The data which that link sends contains telephone
 * numbers.
 */
export interface PayloadHashConfig {
  /**
   * `PAYLOAD_HASH_ISSUERS`: JSON file of the issuers whose keys are pinned (pinned-issuers.ts); unset, the profile is
   * off.
   */
  readonly issuersFile: string | undefined;
  /** `PAYLOAD_HASH_PATH`, default `/payload-hash`: the path that it is served under. */
  readonly path: string;
  /** `PAYLOAD_HASH_RATE`, default 20: maximum requests per second of one network address. */
  readonly perSecond: number;
}

/** The profile's part of the environment. */
export const payloadHashVariables = {
  PAYLOAD_HASH_ISSUERS: z.string().optional(),
  PAYLOAD_HASH_PATH: z
    .string()
    .regex(/^(\/[a-z0-9-]+){1,4}$/, 'must be a path of lower-case letters, digits and dashes')
    .default('/payload-hash'),
  PAYLOAD_HASH_RATE: countOf('requests', 6).default(20),
};

const schema = z.object(payloadHashVariables);

export function payloadHashConfig(env: z.output<typeof schema>): PayloadHashConfig {
  const { PAYLOAD_HASH_ISSUERS: file, PAYLOAD_HASH_PATH: path, PAYLOAD_HASH_RATE: perSecond } = env;
  return Object.freeze({ issuersFile: file === undefined ? undefined : resolve(file), path, perSecond });
}
