import { runService } from './service/run-service.js';

const HELP = `vcon-archivist: evidence for conversations. This program is the service.

  --demo  records two conversations in ./demo-data, to look around

It is configured by environment variables: HOST, PORT, PUBLIC_URL, DATA_DIR, DATABASE_URL, REDIS_URL and others.
Without any, it listens on http://127.0.0.1:8080 and keeps its data in ./data.

The command line, with verify, audit, export and more: npx vcon-archivist --help
`;

const [argument] = process.argv.slice(2);
if (argument === undefined || argument === '--demo') await runService(process.env, argument === '--demo');
else if (argument === '--help' || argument === '-h') process.stdout.write(HELP);
else {
  process.stderr.write(`error: unknown argument ${JSON.stringify(argument)}; see --help\n`);
  process.exitCode = 2;
}
