import type { Command } from 'commander';

/** `serve`: runs the service until SIGTERM or SIGINT, configured by the environment; the same as `npm start`. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the service, configured by environment variables (HOST, PORT, PUBLIC_URL, DATA_DIR, …)')
    .action(async () => {
      // The other commands need none of the service: they start faster without it.
      const { runService } = await import('../service/run-service.js');
      await runService(process.env);
    });
}
