import type { Command } from 'commander';
import { collect } from './collect.js';
import type { WitnessOptions } from './witness-options.js';

/** The options of `verify` that say what is trusted and expected. */
export interface TrustOptions extends WitnessOptions {
  readonly logKeys?: readonly string[];
  readonly issuerKeys?: readonly string[];
  readonly issuer?: readonly string[];
  readonly ca?: readonly string[];
  readonly at?: string;
  readonly logIssuer?: string;
  readonly statementLog?: string;
  readonly tenancyLog?: string;
  readonly witnessedLog?: string;
  readonly statementOnly?: boolean;
}

/** Adds these options to the command. */
export function addTrustOptions(command: Command): Command {
  return command
    .option('--log-keys <file>', 'keys of the logs: COSE key set, JWK set or did.json; repeatable', collect)
    .option('--issuer-keys <file>', 'keys of the statement’s issuer, in the same forms or as PEM; repeatable', collect)
    .option(
      '--issuer <name>',
      'accept only statements and events of this issuer; the keys do not identify it. Repeatable, for a service that has moved',
      (name: string, before: readonly string[] = []) => [...before, name.trim()],
    )
    .option(
      '--ca <pem>',
      'certificate authorities that may certify (x5chain) the signer of a statement; repeatable',
      collect,
    )
    .option('--at <time>', 'when these certificates must be valid, unless a log proves the time; default now')
    .option('--log-issuer <name>', 'accept only receipts and seals of this log operator')
    .option('--statement-log <name>', 'accept only receipts of this statement log')
    .option('--tenancy-log <name>', 'accept only receipts and seals of this tenancy log')
    .option(
      '--witness <vkey>',
      'key of a witness (name+hash+key), to check the cosignatures of a bundle; repeatable',
      collect,
    )
    .option('--witness-quorum <n>', 'how many of these witnesses must have cosigned; default all')
    .option('--witnessed-log <name>', 'accept only checkpoints of this public statement log')
    .option('--statement-only', 'check a statement without its vCon');
}
