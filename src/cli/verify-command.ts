import type { Command } from 'commander';
import { readKeyDocument } from '../core/cose/key-document.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { readInput, UsageError } from './evidence-file.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';
import { reportText } from './verification-text.js';
import { type EvidenceReport, type GivenTrust, verifyEvidence } from './verify-evidence.js';

interface VerifyOptions {
  readonly logKeys?: readonly string[];
  readonly issuerKeys?: readonly string[];
  readonly logIssuer?: string;
  readonly statementLog?: string;
  readonly tenancyLog?: string;
  readonly statementOnly?: boolean;
  readonly json?: boolean;
}

const EXIT_REFUSED = 1;

async function readKeys(option: string, paths: readonly string[] = []): Promise<PublicJwk[]> {
  if (paths.length === 0) throw new UsageError(`this check needs ${option}`);
  const keys: PublicJwk[] = [];
  for (const path of paths) {
    try {
      keys.push(...readKeyDocument(await readInput(path)));
    } catch (error) {
      if (error instanceof VerificationError) throw new UsageError(`no keys in ${path}: ${error.message}`);
      throw error;
    }
  }
  return keys;
}

function pin(issuer: string | undefined, subject: string | undefined) {
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}

function verify(files: readonly string[], options: VerifyOptions, terminal: Terminal): Promise<EvidenceReport> {
  const trust: GivenTrust = {
    logKeys: () => readKeys('--log-keys', options.logKeys),
    issuerKeys: () => readKeys('--issuer-keys', options.issuerKeys),
    statementLog: pin(options.logIssuer, options.statementLog),
    tenancyLog: pin(options.logIssuer, options.tenancyLog),
    statementOnly: options.statementOnly === true,
  };
  return verifyEvidence(files, trust, (done) => terminal.progress?.(done));
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/**
 * `verify`: checks evidence with keys from files, offline unless a URL is given. Exit code 0 when verified, 1 when
 * refused, 2 when the command line or a file is at fault.
 */
export function addVerifyCommand(program: Command, terminal: Terminal): void {
  program
    .command('verify')
    .description('check evidence; needs no network for local files, and trusts only the given keys')
    .argument(
      '<files...>',
      'a vCon and its transparent statement or evidence bundle; an event and its log (replica folder, or massif and seal); a receipt and its statement or event; two seals and the massifs between, the older first; a replica folder; a public asset’s URL',
    )
    .option('--log-keys <file>', 'keys of the logs: COSE key set, JWK set or did.json; repeatable', collect)
    .option('--issuer-keys <file>', 'keys of the statement’s issuer, in the same forms; repeatable', collect)
    .option('--log-issuer <name>', 'accept receipts and seals of this log operator alone')
    .option('--statement-log <name>', 'accept the receipt of this statement log alone')
    .option('--tenancy-log <name>', 'accept receipts and seals of this tenancy log alone')
    .option('--statement-only', 'check the statement without its vCon')
    .option('--json', 'print one JSON document')
    .action(async (files: string[], options: VerifyOptions) => {
      try {
        const report = await verify(files, options, terminal);
        terminal.print(options.json ? JSON.stringify(report, null, 2) : reportText(report));
        terminal.exitCode = report.verified ? 0 : EXIT_REFUSED;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        if (options.json) terminal.print(JSON.stringify({ verified: false, error: error.message }, null, 2));
        else terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
