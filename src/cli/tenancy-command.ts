import type { Command } from 'commander';
import { examples } from './help-examples.js';
import { answerAsOperator, type OperatorOptions } from './operator-answer.js';
import type { OperatorClient } from './operator-client.js';
import type { Terminal } from './terminal.js';

interface Options extends OperatorOptions {
  readonly domain?: string;
}

type Answer = Record<string, unknown>;

/** @param tenancy `tenancies/<uuid>`, `tenant/<uuid>` or the UUID */
function pathOf(tenancy: string): string {
  return `/tenancies/${encodeURIComponent(tenancy.slice(tenancy.lastIndexOf('/') + 1))}`;
}

function line(tenancy: Answer): string {
  const state = tenancy['disabled_at'] === '' ? 'open' : `disabled since ${tenancy['disabled_at']}`;
  const domain = tenancy['verified_domain'] === '' ? '' : `  ${tenancy['verified_domain']}`;
  return `${tenancy['identity']}  ${tenancy['display_name']}${domain}  (${state})`;
}

async function create(client: OperatorClient, name: string, domain: string | undefined) {
  const made = await client.post('/tenancies', {
    display_name: name,
    ...(domain === undefined ? {} : { verified_domain: domain }),
  });
  const lines = [
    line(made),
    'Credentials of its first Owner application (the secret is shown only now):',
    `  client id      ${made['client_id']}`,
    `  client secret  ${made['client_secret']}`,
  ];
  return { document: made, lines };
}

async function list(client: OperatorClient) {
  const tenancies: Answer[] = [];
  for (let page: Answer[] | undefined; page === undefined || page.length > 0; ) {
    const last = tenancies.at(-1)?.['identity'];
    const after = last === undefined ? '' : `?after=${String(last).slice('tenancies/'.length)}`;
    page = (await client.get(`/tenancies${after}`))['tenancies'] as Answer[];
    tenancies.push(...page);
  }
  return { document: { tenancies }, lines: tenancies.map(line) };
}

async function told(answered: Promise<Answer>) {
  const tenancy = await answered;
  return { document: tenancy, lines: [line(tenancy)] };
}

/**
 * `tenancy create|list|disable|enable|verify-domain`: manages the tenancies of a deployment through the running service.
 * Needs read access to KEYS_DIR, and gives no access to a tenancy's data. Exit code 1: the service refused; 2: the command
 * line or the configuration is invalid.
 */
export function addTenancyCommand(program: Command, terminal: Terminal): void {
  const tenancy = program
    .command('tenancy')
    .description('create, list, disable and enable tenancies, as the operator')
    .addHelpText('after', examples('vcon-archivist tenancy list'));
  const add = (usage: string, description: string, example: string): Command =>
    tenancy
      .command(usage)
      .description(description)
      .option('--url <url>', 'base URL of the service; default PUBLIC_URL')
      .option('--json', 'print one JSON document')
      .addHelpText('after', examples(`vcon-archivist tenancy ${example}`));
  add('create <name>', 'create a tenancy and its first Owner application', 'create "Example Ltd" --domain example.com')
    .option('--domain <domain>', 'domain of the organisation, which you have verified yourself')
    .action((name: string, options: Options) =>
      answerAsOperator(terminal, options, (client) => create(client, name, options.domain)),
    );
  add('list', 'list the tenancies', 'list --json').action((options: Options) =>
    answerAsOperator(terminal, options, list),
  );
  add('disable <tenancy>', 'refuse every token and session of a tenancy', 'disable <uuid>').action(
    (id: string, options: Options) =>
      answerAsOperator(terminal, options, (client) => told(client.post(`${pathOf(id)}:disable`))),
  );
  add('enable <tenancy>', 'accept the tokens and sessions of a tenancy again', 'enable <uuid>').action(
    (id: string, options: Options) =>
      answerAsOperator(terminal, options, (client) => told(client.post(`${pathOf(id)}:enable`))),
  );
  add(
    'verify-domain <tenancy> <domain>',
    'record the domain of the organisation, which you have verified yourself',
    'verify-domain <uuid> example.com',
  ).action((id: string, domain: string, options: Options) =>
    answerAsOperator(terminal, options, (client) =>
      told(client.post(`${pathOf(id)}:verify-domain`, { verified_domain: domain })),
    ),
  );
}
