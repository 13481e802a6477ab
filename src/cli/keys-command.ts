import type { Command } from 'commander';
import { toBase64, toBase64Url } from '../core/bytes.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { parseRootFingerprint } from '../core/keys/root-fingerprint.js';
import { DEPLOYMENT_ROLES } from '../platform/keys/key-role.js';
import { examples } from './help-examples.js';
import { readKeyFiles } from './key-files.js';
import { answerAsOperator, type OperatorOptions } from './operator-answer.js';
import type { OperatorClient } from './operator-client.js';
import { readInput } from './read-input.js';
import { signManifestFile } from './sign-manifest.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';
import { writeOutput } from './write-output.js';

type ShownKey = Readonly<
  Record<'key_id' | 'role' | 'algorithm' | 'state' | 'private_half' | 'valid_from' | 'valid_until', string>
>;
interface ShownManifest {
  readonly number: number;
  readonly issued_at: string;
  readonly root_fingerprint: string;
  readonly root_private_half: string;
}
interface StolenOption extends OperatorOptions {
  readonly stolen?: boolean;
}
interface ProposeOptions extends StolenOption {
  readonly rootKey?: string;
  readonly output: string;
}

function line(key: ShownKey): string {
  const until = key.valid_until === '' ? '' : ` to ${key.valid_until}`;
  return `${key.state.padEnd(7)}  ${key.role.padEnd(17)}  ${key.algorithm.padEnd(6)}  ${(key.private_half || 'none').padEnd(6)}  ${key.key_id}  ${key.valid_from}${until}`;
}

function rootLines(manifest: ShownManifest): string[] {
  // A key's id is its thumbprint.
  const file = `${toBase64Url(parseRootFingerprint(manifest.root_fingerprint))}.pem`;
  const where = { file: `in KEYS_DIR/${file}`, module: 'in the module' }[manifest.root_private_half] ?? 'not here';
  return [
    `Root key (private half ${where}): ${manifest.root_fingerprint}`,
    `Key manifest ${manifest.number} of ${manifest.issued_at}`,
  ];
}

async function list(client: OperatorClient) {
  const document = (await client.get('/keys')) as { keys: ShownKey[]; manifest: ShownManifest; faults: string[] };
  const ordered = document.keys.toSorted((left, right) => left.role.localeCompare(right.role));
  const faults = document.faults.map((fault) => `FAULT: ${fault}`);
  return { document, lines: [...rootLines(document.manifest), ...ordered.map(line), ...faults] };
}

/** @throws {UsageError} */
function requireRole(role: string, roles: readonly string[]): string {
  if (roles.includes(role)) return role;
  throw new UsageError(`there is no role ${role}: the roles are ${roles.join(', ')}`);
}

async function rotate(client: OperatorClient, role: string, stolen: boolean) {
  if (role === 'root') {
    if (stolen)
      throw new UsageError(
        'rotate root takes no --stolen: a root key cannot be revoked. Run it without, then tell every verifier the new fingerprint, and that the old one must not be used',
      );
    const document = (await client.post('/root_key:rotate', {})) as unknown as ShownManifest;
    const lines = [
      ...rootLines(document),
      'Give the new fingerprint to every verifier. The published manifest file contains the manifest that rotated the root, so the old fingerprint still works.',
    ];
    return { document, lines };
  }
  requireRole(role, [...DEPLOYMENT_ROLES, 'root']);
  const path = `/keys/${role}:rotate`;
  const document = (await client.post(path, { stolen })) as unknown as Record<
    'active' | 'retired' | 'pending',
    ShownKey
  > & {
    waits_for?: string;
  };
  const { active, retired, pending, waits_for: reason } = document;
  const lines = retired
    ? [
        line(active),
        line(retired),
        stolen
          ? 'The revoked key is no longer published. What it signed is accepted only if a log proves that it is older than the revocation.'
          : 'The retired key stays published, so that what it signed still verifies.',
      ]
    : [
        line(active),
        line(pending),
        `The new key signs nothing yet: ${reason}. Run the same command again to continue.`,
      ];
  return { document, lines };
}

async function revoke(client: OperatorClient, keyId: string) {
  const document = (await client.post(`/keys/${encodeURIComponent(keyId)}:revoke`, {})) as ShownKey;
  return { document, lines: [line(document)] };
}

async function propose(client: OperatorClient, change: string, subject: string | undefined, options: ProposeOptions) {
  const proposed = await changeOf(change, subject, options);
  requireUsed(change, subject, options);
  const document = await client.post('/key_manifests:propose', proposed);
  await writeOutput('--output', options.output, Buffer.from(String(document['manifest']), 'base64'));
  const text = `The unsigned key manifest ${document['number']} is in ${options.output}. Sign it on the machine that has the root key: vcon-archivist keys sign ${options.output} --root-key <pem> --output <signed>`;
  return { document: { ...document, output: options.output }, lines: [text] };
}

async function changeOf(change: string, subject: string | undefined, options: ProposeOptions): Promise<object> {
  const named = (what: string): string => {
    if (subject === undefined) throw new UsageError(`propose ${change} needs ${what}`);
    return subject;
  };
  switch (change) {
    case 'rotate':
      return { change, role: requireRole(named('a role'), DEPLOYMENT_ROLES) };
    case 'activate':
      return { change, role: requireRole(named('a role'), DEPLOYMENT_ROLES), stolen: options.stolen === true };
    case 'revoke':
      return { change, key_id: named('a key id') };
    case 'root': {
      if (options.rootKey === undefined)
        throw new UsageError(
          'propose root needs --root-key <file>: the public half of the new root key, as openssl pkey -pubout writes it',
        );
      const [root] = await readKeyFiles('--root-key', [options.rootKey]);
      return { change, root };
    }
    case 'renew':
      return { change };
    default:
      throw new UsageError(`propose ${change}: the changes are rotate, activate, revoke, root and renew`);
  }
}

/** An argument that was dropped could leave a stolen key retired, and what the thief signs would count. @throws {UsageError} */
function requireUsed(change: string, subject: string | undefined, { stolen, rootKey }: ProposeOptions): void {
  if (subject !== undefined && ['root', 'renew'].includes(change))
    throw new UsageError(`propose ${change} takes no ${subject}`);
  if (stolen && change !== 'activate')
    throw new UsageError(
      `propose ${change} takes no --stolen: keys propose activate <role> --stolen revokes the key that it replaces, keys propose revoke <key-id> a retired key`,
    );
  if (rootKey !== undefined && change !== 'root')
    throw new UsageError(`propose ${change} takes no --root-key: only propose root does`);
}

async function publish(client: OperatorClient, file: string) {
  const manifest = toBase64(await readInput(file));
  const document = (await client.post('/key_manifests', { manifest })) as unknown as ShownManifest;
  return { document, lines: rootLines(document) };
}

/**
 * `keys list|rotate|revoke|propose|sign|publish`: manages the deployment's keys. Every subcommand except `sign` talks to the
 * running service and needs read access to KEYS_DIR; `sign` needs only its files. Exit code 1: the service refused; 2: the
 * command line or the configuration is invalid.
 */
export function addKeysCommand(program: Command, terminal: Terminal): void {
  const keys = program
    .command('keys')
    .description('list, rotate and revoke the keys of the deployment, as the operator')
    .addHelpText('after', examples('vcon-archivist keys list'));
  const add = (usage: string, description: string, ...lines: string[]): Command =>
    keys
      .command(usage)
      .description(description)
      .option('--url <url>', 'base URL of the service; default PUBLIC_URL')
      .option('--json', 'print one JSON document')
      .addHelpText('after', examples(...lines.map((each) => `vcon-archivist keys ${each}`)));
  add(
    'list',
    'print the fingerprint of the root key and all keys, including retired ones',
    'list',
    'list --json',
  ).action((options: OperatorOptions) => answerAsOperator(terminal, options, list));
  add(
    'rotate <role>',
    'replace the key of a role: issuer, statement_receipt, seal, note, token, chain or root',
    'rotate seal',
    'rotate token --stolen',
  )
    .option('--stolen', 'also revoke the replaced key, because it was stolen')
    .action((role: string, options: StolenOption) =>
      answerAsOperator(terminal, options, (client) => rotate(client, role, options.stolen === true)),
    );
  // One id of 64 begins with a hyphen, and is no option: also in `propose revoke`.
  add('revoke <key-id>', 'revoke a retired key that was stolen', 'revoke <key-id>')
    .allowUnknownOption()
    .action((keyId: string, options: OperatorOptions) =>
      answerAsOperator(terminal, options, (client) => revoke(client, keyId)),
    );
  add(
    'propose <change> [subject]',
    'write the next key manifest for an offline root key to sign: rotate <role>, activate <role>, revoke <key-id>, root, renew',
    'propose rotate seal --output manifest.cose',
    'propose root --root-key new-root.pub.pem --output manifest.cose',
  )
    .allowUnknownOption()
    .requiredOption('--output <file>', 'where to write the unsigned manifest')
    .option('--stolen', 'with activate: also revoke the replaced key')
    .option('--root-key <file>', 'with root: the new public root key')
    .action((change: string, subject: string | undefined, options: ProposeOptions) =>
      answerAsOperator(terminal, options, (client) => propose(client, change, subject, options)),
    );
  add('publish <file>', 'publish a key manifest that the root key has signed', 'publish signed.cose').action(
    (file: string, options: OperatorOptions) => answerAsOperator(terminal, options, (client) => publish(client, file)),
  );
  addSignCommand(keys, terminal);
}

function addSignCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('sign <file>')
    .description('sign a proposed key manifest with a root key in a file; needs no service and no network')
    .addHelpText('after', examples('vcon-archivist keys sign manifest.cose --root-key root.pem --output signed.cose'))
    .requiredOption('--root-key <pem>', 'private root key (PEM)')
    .requiredOption('--output <file>', 'where to write the signed manifest')
    .action(async (file: string, options: { rootKey: string; output: string }) => {
      try {
        terminal.print(await signManifestFile(file, options));
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
