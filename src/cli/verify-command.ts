import type { Command } from 'commander';
import type { EvidenceFile } from '../core/evidence/evidence-file.js';
import { manifestSources } from '../core/evidence/manifest-sources.js';
import { requirePublishedAsset, verifyPublishedAsset } from '../core/evidence/published-asset.js';
import { type RootTrust, trustRoot, verifyUnderRoot } from '../core/evidence/root-trust.js';
import { UsageError } from '../core/evidence/usage-error.js';
import {
  type EvidenceVerdict,
  NotEvidence,
  requireReadable,
  verifyEvidence,
} from '../core/evidence/verify-evidence.js';
import { type Outcome, VERDICT_SCHEMA, verdictDocument } from '../core/verify/verdict.js';
import { collect } from './collect.js';
import { readEvidence } from './evidence-file.js';
import { examples } from './help-examples.js';
import { rememberManifest } from './manifest-state.js';
import { givenManifests, publishedManifests } from './published-manifest.js';
import { readPublished } from './read-published.js';
import { rootThumbprint } from './root-option.js';
import { giveNoVerdict, jsonLines, type Terminal } from './terminal.js';
import { addTrustOptions, type TrustOptions } from './trust-options.js';
import { verdictLines } from './verdict-text.js';
import { givenTrust } from './verify-trust.js';

interface VerifyOptions extends TrustOptions {
  readonly root?: string;
  readonly manifest?: readonly string[];
  readonly state?: string;
  readonly json?: boolean;
}

const EXIT_STATUS: Readonly<Record<Outcome, number>> = { verified: 0, refused: 1, incomplete: 3 };

const NO_MANIFEST =
  'the evidence contains no key manifest: give one with --manifest. A service publishes it at <service>/verifiabledata/keys/manifest; it needs no trusted channel, because the fingerprint checks it';

/** The files that the user named, or the URL of a public asset. */
type Given = { readonly url: string } | { readonly files: readonly EvidenceFile[] };

async function read(paths: readonly string[]): Promise<Given> {
  const [url] = paths;
  if (url === undefined || !/^https?:\/\//.test(url)) return { files: await Promise.all(paths.map(readEvidence)) };
  if (paths.length > 1) throw new UsageError('give the URL of a public asset without other files');
  return { url };
}

async function verify(paths: readonly string[], options: VerifyOptions, terminal: Terminal): Promise<EvidenceVerdict> {
  const { root: fingerprint, manifest, state } = options;
  if (fingerprint === undefined) {
    if (manifest) throw new UsageError('--manifest needs --root: without the fingerprint a manifest proves nothing');
    if (state !== undefined)
      throw new UsageError('--state needs --root: it remembers the key manifests of that root key');
    return verifyWith(await read(paths), options, undefined, terminal);
  }
  const thumbprint = rootThumbprint(fingerprint);
  const given = await read(paths);
  const found = 'url' in given ? await publishedManifests(given.url) : await manifestSources(given.files);
  const sources = [...(await givenManifests(manifest)), ...found];
  if (sources.length === 0) throw await withoutManifest(given);
  const root = async () => {
    const trusted = await trustRoot(thumbprint, sources);
    if (state !== undefined) await rememberManifest(state, trusted);
    return trusted;
  };
  return verifyUnderRoot(root, (trusted) => verifyWith(given, options, trusted, terminal));
}

/** What is no evidence at all is said first: a manifest would not help. */
async function withoutManifest(given: Given): Promise<UsageError> {
  if ('url' in given) await requirePublishedAsset(given.url, readPublished);
  else await requireReadable(given.files);
  return new UsageError(NO_MANIFEST);
}

async function verifyWith(
  given: Given,
  options: VerifyOptions,
  root: RootTrust | undefined,
  terminal: Terminal,
): Promise<EvidenceVerdict> {
  if ('url' in given && (options.issuer !== undefined || options.witness))
    throw new UsageError(
      '--issuer and --witness need files: a public asset has neither statements nor cosignatures at its URL. Give the evidence bundles of its events',
    );
  const trust = givenTrust(options, root);
  const progress = (done: string) => terminal.progress?.(done);
  return 'url' in given
    ? verifyPublishedAsset(given.url, readPublished, trust, progress)
    : verifyEvidence(given.files, trust, progress);
}

/** What `--json` prints when nothing could be checked (docs/formats/verdict.md). */
function unreadable(error: unknown): object {
  const files = error instanceof NotEvidence ? error.files : [];
  const message = error instanceof Error ? error.message : String(error);
  return { schema: VERDICT_SCHEMA, outcome: 'unreadable', files, error: message };
}

/**
 * `verify`: checks evidence with the given keys, offline unless a URL is given. Exit status 0: verified; 1: refused; 2: the
 * command line is invalid, the files are not evidence, or the check itself failed; 3: a piece of evidence is unproven.
 */
export function addVerifyCommand(program: Command, terminal: Terminal): void {
  const command = program
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
    .option('--state <folder>', 'remember the newest key manifest in this folder, and refuse older ones');
  addTrustOptions(command)
    .option('--json', 'print one JSON document (docs/formats/verdict.md)')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist verify evidence.zip --root AITC-A7TU-… --issuer did:web:archivist.example:archivist:v1:didweb:<uuid>',
        'vcon-archivist verify vcon.json statement.cose --root AITC-A7TU-… --json',
        'vcon-archivist verify 0000000000000000.log 0000000000000000.sth --log-keys keys.cbor',
      ),
    )
    .action(async (files: string[], options: VerifyOptions) => {
      try {
        const { verdict, files: takenFor } = await verify(files, options, terminal);
        const json = () => jsonLines(verdictDocument(verdict, takenFor));
        terminal.print(options.json ? json() : verdictLines(verdict, takenFor));
        terminal.exitCode = EXIT_STATUS[verdict.outcome];
      } catch (error) {
        if (options.json) terminal.print(jsonLines(unreadable(error)));
        giveNoVerdict(terminal, error, error instanceof UsageError);
      }
    });
}
