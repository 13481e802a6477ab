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
import { examples } from './help-examples.js';
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

/** Reads the keys and certificate authorities that are trusted to sign statements. */
async function issuers(options: VerifyOptions, root: RootTrust | undefined): Promise<IssuerTrust> {
  const { issuerKeys, issuer, ca, at } = options;
  const certificates = ca && (await certificateTrust(ca, at));
  const isEnough = (ca ?? root) !== undefined && !issuerKeys;
  const keys = isEnough ? [] : await readKeyFiles('--root, --issuer-keys or --ca', issuerKeys);
  return { issuerKeys: [...(root?.issuerKeys ?? []), ...keys], certificates, issuer };
}

/** Reads the keys of the logs from files, and from the key manifest that the root key signed. */
async function logKeys(options: VerifyOptions, root: RootTrust | undefined): Promise<PublicJwk[]> {
  const given = root && !options.logKeys ? [] : await readKeyFiles('--root or --log-keys', options.logKeys);
  return [...(root?.logKeys ?? []), ...given];
}

/** Returns distinct keys, so that no witness counts twice. All must have cosigned unless `--witness-quorum` is lower. */
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
    throw new UsageError(
      '--witness: one of the keys belongs to a log, not to a witness; give cosignature keys (type 0x04)',
    );
  const witnesses = [...new Map(read.map((key) => [key.publicKey.join(), key])).values()];
  const quorum = witnessQuorum === undefined ? witnesses.length : Number(witnessQuorum);
  if (!Number.isInteger(quorum) || quorum < Math.min(1, witnesses.length) || quorum > witnesses.length)
    throw new UsageError(`--witness-quorum must be from 1 to ${witnesses.length}, the number of witnesses given`);
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
 * `verify`: checks evidence with the given keys, offline unless a URL is given. Exit status 0: verified; 1: refused; 2: the
 * command line is invalid or the files are not evidence; 3: a piece of evidence is unproven.
 */
export function addVerifyCommand(program: Command, terminal: Terminal): void {
  program
    .command('verify')
    .description(
      'check evidence offline, with only the keys that you give. Exit status: 0 verified, 1 refused, 2 not evidence or unreadable, 3 incomplete (nothing is false, but something is unproven)',
    )
    .argument(
      '<files...>',
      'any files that belong together, in any order: a vCon; transparent statements, evidence bundles, signed statements, receipts, events; log files (massifs and seals) or a replica folder. Or the URL of a public asset',
    )
    .option(
      '--root <fingerprint>',
      'trust the keys of the key manifest that the root key of this fingerprint signed; no other key option is needed',
    )
    .option('--manifest <file>', 'a key manifest, if the evidence contains none; repeatable', collect)
    .option('--state <folder>', 'remember the newest key manifest in this folder, and refuse older ones')
    .option('--log-keys <file>', 'keys of the logs: COSE key set, JWK set or did.json; repeatable', collect)
    .option('--issuer-keys <file>', 'keys of the statement’s issuer, in the same forms or as PEM; repeatable', collect)
    .option('--issuer <name>', 'accept only statements of this issuer; the keys do not identify it')
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
    .option('--statement-only', 'check a statement without its vCon')
    .option('--json', 'print one JSON document (docs/formats/verdict.md)')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist verify evidence.zip --root AITC-A7TU-… --issuer did:web:archivist.example:tenant:<uuid>',
        'vcon-archivist verify vcon.json statement.cose --root AITC-A7TU-… --json',
        'vcon-archivist verify 0000000000000000.log 0000000000000000.sth --log-keys keys.cbor',
      ),
    )
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
