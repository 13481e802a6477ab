import type { Command } from 'commander';
import { VerificationError } from '../core/errors.js';
import { decodeVkey, NoteKeyType } from '../core/tlog/signed-note.js';
import type { IssuerTrust } from '../core/verify/trust.js';
import { certificateTrust } from './certificate-trust.js';
import { UsageError } from './evidence-file.js';
import { readKeyFiles } from './key-files.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';
import { reportText } from './verification-text.js';
import { type EvidenceReport, type GivenTrust, verifyEvidence } from './verify-evidence.js';

interface VerifyOptions {
  readonly logKeys?: readonly string[];
  readonly issuerKeys?: readonly string[];
  readonly issuer?: string;
  readonly ca?: readonly string[];
  readonly at?: string;
  readonly logIssuer?: string;
  readonly statementLog?: string;
  readonly tenancyLog?: string;
  readonly witness?: readonly string[];
  readonly witnessQuorum?: string;
  readonly witnessedLog?: string;
  readonly statementOnly?: boolean;
  readonly json?: boolean;
}

const EXIT_REFUSED = 1;

function pin(issuer: string | undefined, subject: string | undefined) {
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}

/** Who may sign statements: keys, certificate authorities, or both. */
async function issuers({ issuerKeys, issuer, ca, at }: VerifyOptions): Promise<IssuerTrust> {
  const certificates = ca && (await certificateTrust(ca, at));
  const keys = ca && !issuerKeys ? [] : await readKeyFiles('--issuer-keys or --ca', issuerKeys);
  return { issuerKeys: keys, certificates, issuer };
}

/** Distinct keys, so that nobody counts twice; all of them have to have cosigned unless fewer are asked for. */
function witnessesOf({ witness = [], witnessQuorum }: VerifyOptions): Pick<GivenTrust, 'witnesses' | 'quorum'> {
  const read = witness.map((vkey) => {
    try {
      return decodeVkey(vkey);
    } catch (error) {
      if (error instanceof VerificationError) throw new UsageError(`--witness: ${error.message}`);
      throw error;
    }
  });
  if (read.some(({ type }) => type !== NoteKeyType.cosignature))
    throw new UsageError('--witness: a key is a log’s own, not a witness’s');
  const witnesses = [...new Map(read.map((key) => [key.publicKey.join(), key])).values()];
  const quorum = witnessQuorum === undefined ? witnesses.length : Number(witnessQuorum);
  if (!Number.isInteger(quorum) || quorum < Math.min(1, witnesses.length) || quorum > witnesses.length)
    throw new UsageError(`--witness-quorum must be 1 to the number of witnesses that are given, ${witnesses.length}`);
  return { witnesses, quorum };
}

async function verify(files: readonly string[], options: VerifyOptions, terminal: Terminal): Promise<EvidenceReport> {
  const trust: GivenTrust = {
    logKeys: () => readKeyFiles('--log-keys', options.logKeys),
    issuers: () => issuers(options),
    statementLog: pin(options.logIssuer, options.statementLog),
    tenancyLog: pin(options.logIssuer, options.tenancyLog),
    ...witnessesOf(options),
    witnessedLog: options.witnessedLog,
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
    .option('--issuer-keys <file>', 'keys of the statement’s issuer, in the same forms or as PEM; repeatable', collect)
    .option('--issuer <name>', 'accept statements of this issuer alone, where keys of several are given')
    .option('--ca <pem>', 'authorities whose certificates (x5chain) may name a statement’s signer; repeatable', collect)
    .option('--at <time>', 'when such certificates have to hold, unless a log is proven to say it; now if not given')
    .option('--log-issuer <name>', 'accept receipts and seals of this log operator alone')
    .option('--statement-log <name>', 'accept the receipt of this statement log alone')
    .option('--tenancy-log <name>', 'accept receipts and seals of this tenancy log alone')
    .option(
      '--witness <vkey>',
      'a witness’s key (name+hash+key), to check who vouched for a bundle; repeatable',
      collect,
    )
    .option('--witness-quorum <n>', 'how many of the witnesses have to have cosigned; all if not given')
    .option('--witnessed-log <name>', 'accept what witnesses cosigned of this public statement log alone')
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
