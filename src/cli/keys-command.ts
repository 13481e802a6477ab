import type { Command } from 'commander';
import { answerAsOperator, type OperatorOptions } from './operator-answer.js';
import type { OperatorClient } from './operator-client.js';
import type { Terminal } from './terminal.js';

type ShownKey = Readonly<
  Record<'key_id' | 'role' | 'algorithm' | 'state' | 'private_half' | 'valid_from' | 'valid_until', string>
>;

function line(key: ShownKey): string {
  const until = key.valid_until === '' ? '' : ` to ${key.valid_until}`;
  return `${key.state.padEnd(7)}  ${key.role.padEnd(17)}  ${key.algorithm.padEnd(6)}  ${(key.private_half || 'none').padEnd(6)}  ${key.key_id}  ${key.valid_from}${until}`;
}

async function list(client: OperatorClient) {
  const document = (await client.get('/keys')) as { keys: ShownKey[] };
  const ordered = document.keys.toSorted((left, right) => left.role.localeCompare(right.role));
  return { document, text: ordered.map(line).join('\n') };
}

async function rotate(client: OperatorClient, role: string) {
  const document = (await client.post(`/keys/${encodeURIComponent(role)}:rotate`)) as Record<string, ShownKey>;
  const text = [
    line(document['active']!),
    line(document['retired']!),
    'The retired key stays published: what it signed verifies for ever. Other processes follow within a minute.',
  ];
  return { document, text: text.join('\n') };
}

/**
 * `keys list|rotate`: the deployment's keys, through the running service. Needs read access to KEYS_DIR. Exit code 1 when
 * the service refuses, 2 when the command line or the configuration is at fault.
 */
export function addKeysCommand(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('list and rotate the service’s own keys, as the operator');
  const add = (usage: string, description: string): Command =>
    keys
      .command(usage)
      .description(description)
      .option('--url <url>', 'where the service is (PUBLIC_URL)')
      .option('--json', 'print one JSON document');
  add('list', 'list the keys, retired ones too').action((options: OperatorOptions) =>
    answerAsOperator(terminal, options, list),
  );
  add('rotate <role>', 'make a new key: issuer, statement_receipt, seal, note, token or chain').action(
    (role: string, options: OperatorOptions) => answerAsOperator(terminal, options, (client) => rotate(client, role)),
  );
}
