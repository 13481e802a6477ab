import { z } from 'zod';
import { decodeVkey, NoteKeyType } from '../../core/tlog/signed-note.js';
import { baseUrl, countOf, numeric } from '../../platform/config-values.js';
import type { Witness } from './witness.js';

/** Who cosigns the public logs. */
export interface WitnessConfig {
  /**
   * `WITNESSES`, such as `witness.example/w1+6bccad76+BBle… https://witness.example, …`: verifier key and address of each
   * C2SP witness that cosigns the public statement log. Unset, events stop at CONFIRMED.
   */
  readonly witnesses: readonly Witness[];
  /** `WITNESS_QUORUM`, default all of them: how many witnesses must cosign before an event is UNEQUIVOCAL. */
  readonly quorum: number;
  /** `WITNESS_SECONDS`, 1 to 59, default 10: seconds between requests to the witnesses. */
  readonly everySeconds: number;
}

/** Verifier keys and URLs of witnesses. */
const witnesses = z.string().transform((text, context): readonly Witness[] =>
  text.split(',').map((each) => {
    const [vkey, address, ...more] = each.trim().split(/\s+/);
    const parsed = baseUrl.safeParse(address ?? '');
    try {
      const key = decodeVkey(vkey ?? '');
      if (parsed.success && more.length === 0 && key.type === NoteKeyType.cosignature) return { key, url: parsed.data };
    } catch {
      // Reported below, with a message for the operator.
    }
    context.addIssue(
      'must be the verifier key and the URL of each witness, with a space between them; separate witnesses by commas',
    );
    return z.NEVER;
  }),
);

/** The witnesses' part of the environment. */
export const witnessVariables = {
  WITNESSES: witnesses.default([]),
  WITNESS_QUORUM: countOf('witnesses', 3).optional(),
  WITNESS_SECONDS: numeric(/^([1-9]|[1-5]\d)$/, 'must be 1 to 59 seconds').default(10),
};

const schema = z.object(witnessVariables);
type WitnessEnvironment = z.output<typeof schema>;

/** Returns what is wrong with a combination of variables. */
export function findWitnessContradiction(env: WitnessEnvironment): string | undefined {
  if (env.WITNESS_QUORUM !== undefined && env.WITNESS_QUORUM > env.WITNESSES.length)
    return `WITNESS_QUORUM: is larger than the number of WITNESSES, ${env.WITNESSES.length}`;
  if (hasTwins(env.WITNESSES)) return 'WITNESSES: two entries have the same name or the same key';
  return undefined;
}

/**
 * Whether a witness is listed twice: it would be asked twice and count twice towards the quorum. Sizes are remembered
 * by name.
 */
function hasTwins(given: readonly Witness[]): boolean {
  const names = new Set(given.map(({ key }) => key.name));
  const keys = new Set(given.map(({ key }) => key.publicKey.join()));
  return names.size < given.length || keys.size < given.length;
}

export function witnessConfig(env: WitnessEnvironment): WitnessConfig {
  const { WITNESSES: named, WITNESS_QUORUM: quorum = named.length, WITNESS_SECONDS: everySeconds } = env;
  return Object.freeze({ witnesses: named, quorum, everySeconds });
}
