import type { Command } from 'commander';
import { examples } from './help-examples.js';

/** `serve`: runs the service until SIGTERM or SIGINT, configured by the environment, like `npm start`. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the service, configured by environment variables (HOST, PORT, PUBLIC_URL, DATA_DIR, …)')
    .addHelpText(
      'after',
      examples('vcon-archivist serve', 'PORT=9000 PUBLIC_URL=https://archivist.example vcon-archivist serve'),
    )
    .option('--demo', 'record two conversations in ./demo-data, to look around')
    .action(async ({ demo }: { demo?: boolean }) => {
      // Loaded here because the other commands do not need the service and start faster without it.
      const { runService } = await import('../service/run-service.js');
      await runService(process.env, demo);
    });
}
