import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readKeyDocument } from '../core/cose/key-document.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import type { VerificationReport } from '../core/verify/verification-report.js';
import {
  examineTransparentStatement,
  type TransparentStatementTrust,
} from '../core/verify/verify-transparent-statement.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';
import { reportText } from './verification-text.js';

interface VerifyOptions {
  readonly logKeys: readonly string[];
  readonly issuerKeys: readonly string[];
  readonly logIssuer?: string;
  readonly statementLog?: string;
  readonly tenancyLog?: string;
  readonly statementOnly?: boolean;
  readonly json?: boolean;
}

/** What a person has to put right before anything can be checked. */
class UsageError extends Error {}

const EXIT_REFUSED = 1;

async function readInput(path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}`);
  }
}

async function readKeys(paths: readonly string[]): Promise<PublicJwk[]> {
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

function namedFiles(files: readonly string[], statementOnly: boolean): { document?: string; statement: string } {
  const [first, second, ...more] = files;
  if (statementOnly && first !== undefined && second === undefined) return { statement: first };
  if (!statementOnly && first !== undefined && second !== undefined && more.length === 0)
    return { document: first, statement: second };
  throw new UsageError(
    statementOnly
      ? 'with --statement-only, give the transparent statement alone'
      : 'give the vCon and its transparent statement, or the statement alone with --statement-only',
  );
}

function pin(issuer: string | undefined, subject: string | undefined) {
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}

/** Bytes that cannot even be taken apart are refused evidence, with one step to show for it. */
async function examine(statement: Uint8Array, trust: TransparentStatementTrust): Promise<VerificationReport> {
  try {
    return await examineTransparentStatement(statement, trust);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const detail = `not a transparent statement: ${error.message}`;
    return { verified: false, steps: [{ step: 'statement_signature', outcome: 'refused', code: error.code, detail }] };
  }
}

async function verify(files: readonly string[], options: VerifyOptions): Promise<VerificationReport> {
  const { document, statement } = namedFiles(files, options.statementOnly === true);
  return examine(await readInput(statement), {
    logKeys: await readKeys(options.logKeys),
    issuerKeys: await readKeys(options.issuerKeys),
    document: document === undefined ? undefined : await readInput(document),
    statementLog: pin(options.logIssuer, options.statementLog),
    tenancyLog: pin(options.logIssuer, options.tenancyLog),
  });
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/**
 * `verify`: checks a vCon against its transparent statement, offline, with keys from files. Exit code 0 when verified, 1
 * when refused, 2 when the command line or a file is at fault.
 */
export function addVerifyCommand(program: Command, terminal: Terminal): void {
  program
    .command('verify')
    .description('check a vCon against its transparent statement; needs no network and trusts only the given keys')
    .argument('<files...>', 'the vCon and its transparent statement')
    .requiredOption('--log-keys <file>', 'keys of the logs: COSE key set, JWK set or did.json; repeatable', collect)
    .requiredOption('--issuer-keys <file>', 'keys of the statement’s issuer, in the same forms; repeatable', collect)
    .option('--log-issuer <name>', 'accept receipts of this log operator alone')
    .option('--statement-log <name>', 'accept the receipt of this statement log alone')
    .option('--tenancy-log <name>', 'accept the receipt of this tenancy log alone')
    .option('--statement-only', 'check the statement without its vCon')
    .option('--json', 'print one JSON document')
    .action(async (files: string[], options: VerifyOptions) => {
      try {
        const report = await verify(files, options);
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
