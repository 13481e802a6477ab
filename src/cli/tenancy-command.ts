import type { Command } from 'commander';
import { answerAsOperator, type OperatorOptions } from './operator-answer.js';
import type { OperatorClient } from './operator-client.js';
import type { Terminal } from './terminal.js';

interface Options extends OperatorOptions {
  readonly domain?: string;
}

type Answer = Record<string, unknown>;

/** `tenancies/<uuid>`, `tenant/<uuid>` or the UUID alone. */
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
  const text = [
    line(made),
    'Its first Owner is an application; this is the only time its secret is shown:',
    `  client id      ${made['client_id']}`,
    `  client secret  ${made['client_secret']}`,
  ];
  return { document: made, text: text.join('\n') };
}

async function list(client: OperatorClient) {
  const tenancies: Answer[] = [];
  for (let page: Answer[] | undefined; page === undefined || page.length > 0; ) {
    const last = tenancies.at(-1)?.['identity'];
    const after = last === undefined ? '' : `?after=${String(last).slice('tenancies/'.length)}`;
    page = (await client.get(`/tenancies${after}`))['tenancies'] as Answer[];
    tenancies.push(...page);
  }
  return { document: { tenancies }, text: tenancies.map(line).join('\n') };
}

async function told(answered: Promise<Answer>) {
  const tenancy = await answered;
  return { document: tenancy, text: line(tenancy) };
}

/**
 * `tenancy create|list|disable|enable|verify-domain`: what the operator of a deployment does, through the running service.
 * Needs read access to KEYS_DIR; opens nothing that is in a tenancy. Exit code 1 when the service refuses, 2 when the
 * command line or the configuration is at fault.
 */
export function addTenancyCommand(program: Command, terminal: Terminal): void {
  const tenancy = program.command('tenancy').description('make, list and shut tenancies, as the operator');
  const add = (usage: string, description: string): Command =>
    tenancy
      .command(usage)
      .description(description)
      .option('--url <url>', 'where the service is (PUBLIC_URL)')
      .option('--json', 'print one JSON document');
  add('create <name>', 'make a tenancy and its first Owner')
    .option('--domain <domain>', 'a domain of its organisation, which you have verified')
    .action((name: string, options: Options) =>
      answerAsOperator(terminal, options, (client) => create(client, name, options.domain)),
    );
  add('list', 'list the tenancies').action((options: Options) => answerAsOperator(terminal, options, list));
  add('disable <tenancy>', 'refuse every token and session of a tenancy').action((id: string, options: Options) =>
    answerAsOperator(terminal, options, (client) => told(client.post(`${pathOf(id)}:disable`))),
  );
  add('enable <tenancy>', 'accept them again').action((id: string, options: Options) =>
    answerAsOperator(terminal, options, (client) => told(client.post(`${pathOf(id)}:enable`))),
  );
  add('verify-domain <tenancy> <domain>', 'note a domain of its organisation, which you have verified').action(
    (id: string, domain: string, options: Options) =>
      answerAsOperator(terminal, options, (client) =>
        told(client.post(`${pathOf(id)}:verify-domain`, { verified_domain: domain })),
      ),
  );
}
