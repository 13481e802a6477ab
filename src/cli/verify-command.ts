import type { Command } from 'commander';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { judgeByManifest } from '../core/keys/judge-by-manifest.js';
import { decodeVkey, NoteKeyType } from '../core/tlog/signed-note.js';
import type { IssuerTrust } from '../core/verify/trust.js';
import { contradiction, createVerdict, type Outcome, VERDICT_SCHEMA, verdictDocument } from '../core/verify/verdict.js';
import { certificateTrust } from './certificate-trust.js';
import { UsageError } from './evidence-file.js';
import type { GivenTrust } from './given-trust.js';
import { readKeyFiles } from './key-files.js';
import { manifestSources } from './manifest-sources.js';
import { type RootTrust, readRootTrust } from './root-trust.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';
import { verdictText } from './verdict-text.js';
import { type EvidenceVerdict, NotEvidence, verifyEvidence } from './verify-evidence.js';

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
  readonly root?: string;
  readonly manifest?: readonly string[];
  readonly state?: string;
  readonly statementOnly?: boolean;
  readonly json?: boolean;
}

const EXIT_STATUS: Readonly<Record<Outcome, number>> = { verified: 0, refused: 1, incomplete: 3 };

function pin(issuer: string | undefined, subject: string | undefined) {
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}

/** Who may sign statements: keys, certificate authorities, or both. */
async function issuers(options: VerifyOptions, root: RootTrust | undefined): Promise<IssuerTrust> {
  const { issuerKeys, issuer, ca, at } = options;
  const certificates = ca && (await certificateTrust(ca, at));
  const isEnough = (ca ?? root) !== undefined && !issuerKeys;
  const keys = isEnough ? [] : await readKeyFiles('--root, --issuer-keys or --ca', issuerKeys);
  return { issuerKeys: [...(root?.issuerKeys ?? []), ...keys], certificates, issuer };
}

/** Keys of the logs: from files, and from the manifest that the root key vouches for. */
async function logKeys(options: VerifyOptions, root: RootTrust | undefined): Promise<PublicJwk[]> {
  const given = root && !options.logKeys ? [] : await readKeyFiles('--root or --log-keys', options.logKeys);
  return [...(root?.logKeys ?? []), ...given];
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

async function verify(files: readonly string[], options: VerifyOptions, terminal: Terminal): Promise<EvidenceVerdict> {
  if (options.root === undefined) {
    if (options.manifest)
      throw new UsageError('--manifest needs --root: without the fingerprint a manifest proves nothing');
    return verifyWith(files, options, undefined, terminal);
  }
  const sources = await manifestSources(files, options.manifest);
  try {
    const root = await readRootTrust(options.root, sources, options.state);
    const { verdict, files: takenFor } = await verifyWith(files, options, root, terminal);
    return { verdict: judgeByManifest(verdict, root.manifest), files: takenFor };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { verdict: createVerdict(contradiction('key manifest', error)), files: [] };
  }
}

async function verifyWith(
  files: readonly string[],
  options: VerifyOptions,
  root: RootTrust | undefined,
  terminal: Terminal,
): Promise<EvidenceVerdict> {
  const trust: GivenTrust = {
    logKeys: () => logKeys(options, root),
    issuers: () => issuers(options, root),
    hasIssuers: (options.issuerKeys ?? options.ca ?? root) !== undefined,
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

/** What `--json` prints when nothing could be checked (docs/formats/verdict.md). */
function unreadable(error: UsageError): object {
  const files = error instanceof NotEvidence ? error.files : [];
  return { schema: VERDICT_SCHEMA, outcome: 'unreadable', files, error: error.message };
}

/**
 * `verify`: checks evidence with keys from files, offline unless a URL is given. Exit status 0 when it is verified, 1 when
 * it is refused, 2 when the command line is wrong or the files are no evidence, 3 when a piece of evidence is unproven.
 */
export function addVerifyCommand(program: Command, terminal: Terminal): void {
  program
    .command('verify')
    .description(
      'check evidence; needs no network for local files, and trusts only the given keys. Exit status: 0 verified, 1 refused, 2 not evidence or unreadable, 3 incomplete (nothing false, but something is unproven)',
    )
    .argument(
      '<files...>',
      'any files that belong together, in any order: a vCon; transparent statements, evidence bundles, signed statements, receipts, events; log files (massifs and seals) or a replica folder. Or the URL of a public asset',
    )
    .option(
      '--root <fingerprint>',
      'trust the keys of the key manifest that the root key of this fingerprint signed; no other key option is needed',
    )
    .option('--manifest <file>', 'a key manifest, where the evidence has none; repeatable', collect)
    .option('--state <folder>', 'remember the newest key manifest there, and refuse an older one')
    .option('--log-keys <file>', 'keys of the logs: COSE key set, JWK set or did.json; repeatable', collect)
    .option('--issuer-keys <file>', 'keys of the statement’s issuer, in the same forms or as PEM; repeatable', collect)
    .option('--issuer <name>', 'accept only statements of this issuer, which the given keys do not say by themselves')
    .option('--ca <pem>', 'authorities whose certificates (x5chain) may name a statement’s signer; repeatable', collect)
    .option('--at <time>', 'when such certificates have to be valid, unless a log proves the time; default now')
    .option('--log-issuer <name>', 'accept only receipts and seals of this log operator')
    .option('--statement-log <name>', 'accept only receipts of this statement log')
    .option('--tenancy-log <name>', 'accept only receipts and seals of this tenancy log')
    .option(
      '--witness <vkey>',
      'a witness’s key (name+hash+key), to check who vouched for a bundle; repeatable',
      collect,
    )
    .option('--witness-quorum <n>', 'how many of the witnesses must have cosigned; default all')
    .option('--witnessed-log <name>', 'accept only checkpoints of this public statement log')
    .option('--statement-only', 'check a statement without its vCon')
    .option('--json', 'print one JSON document (docs/formats/verdict.md)')
    .action(async (files: string[], options: VerifyOptions) => {
      try {
        const { verdict, files: takenFor } = await verify(files, options, terminal);
        const json = () => JSON.stringify(verdictDocument(verdict, takenFor), null, 2);
        terminal.print(options.json ? json() : verdictText(verdict, takenFor));
        terminal.exitCode = EXIT_STATUS[verdict.outcome];
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        if (options.json) terminal.print(JSON.stringify(unreadable(error), null, 2));
        else terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
