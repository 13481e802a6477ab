import type { Command } from 'commander';
import { pino } from 'pino';
import { examineCaptureRedis, examineDoubles } from '../../../plugins/operator/examine-capture.js';
import { examineQueue } from '../../../plugins/operator/examine-queue.js';
import { examineConserverRedis, examineQueueRedis } from '../../../plugins/operator/examine-redis.js';
import { examineService } from '../../../plugins/operator/examine-service.js';
import { examineSpool } from '../../../plugins/operator/examine-spool.js';
import type { Finding, FindingState } from '../../../plugins/operator/finding.js';
import { spoolPlace } from '../../../plugins/operator/spool-place.js';
import { archivistBase, PluginSettingsError } from '../../../plugins/settings/plugin-settings.js';
import { systemClock } from '../../platform/clock.js';
import { type Config, ConfigError, parseConfig } from '../../platform/config.js';
import { EXIT_USAGE, type Terminal } from '../terminal.js';
import { openOperatorQueue } from './open-operator-queue.js';

const EXIT_CODES: Readonly<Record<FindingState, number>> = { ok: 0, change: 1, broken: 2 };
const MARKS: Readonly<Record<FindingState, string>> = { ok: 'ok    ', change: 'CHANGE', broken: 'BROKEN' };
const SERVICE_BESIDE = 'http://127.0.0.1:8080';

class UsageError extends Error {}

interface DoctorOptions {
  readonly conserverRedis?: string;
  readonly json?: boolean;
}

function conserverUrl(text: string): string {
  if (/^rediss?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--conserver-redis must be a URL that begins with redis:// or rediss://');
}

async function examine(config: Config, conserver: string | undefined): Promise<Finding[]> {
  const { plugin, redisUrl } = config;
  const service = {
    url: archivistBase(plugin.archivistUrl ?? SERVICE_BESIDE),
    clientId: plugin.clientId ?? '',
    clientSecret: plugin.clientSecret ?? '',
  };
  const logger = pino({ level: 'silent' });
  const findings = await Promise.all([
    redisUrl ? examineQueueRedis(redisUrl) : [],
    conserver ? examineConserverRedis(conserver, redisUrl) : [],
    plugin.conserverRedisUrl ? examineCaptureRedis(plugin.conserverRedisUrl, plugin) : [],
    examineQueue(() => openOperatorQueue(config, logger), systemClock),
    examineDoubles(config, logger),
    examineSpool(spoolPlace(config.dataDir), systemClock),
    examineService(service, systemClock),
  ]);
  return findings.flat();
}

function findingText({ check, state, found, change }: Finding): string {
  return `${MARKS[state]}  ${check}: ${found}${change === undefined ? '' : `\n        → ${change}`}`;
}

function worst(findings: readonly Finding[]): FindingState {
  const states = findings.map(({ state }) => state);
  return states.includes('broken') ? 'broken' : states.includes('change') ? 'change' : 'ok';
}

const VERDICTS: Readonly<Record<FindingState, string>> = {
  ok: 'All is well.',
  change: 'It works; something should be changed.',
  broken: 'Something is broken.',
};

/**
 * `plugin doctor`, and `doctor` for short: looks at what the conserver plugin depends on, as the environment names it, and tells what to change. Captures
 * and records nothing. Exit code 0 when all is well, 1 when something should be changed, 2 when something is broken or the
 * configuration is at fault.
 */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .description('examine the plugin’s Redis, queue, capture, credentials and clock, and tell what to change')
    .option(
      '--conserver-redis <url>',
      'the conserver’s Redis: does it know the JSON commands; CONSERVER_REDIS_URL when left out',
    )
    .option('--json', 'print one JSON document')
    .action(async ({ conserverRedis, json }: DoctorOptions) => {
      try {
        const conserver = conserverRedis === undefined ? undefined : conserverUrl(conserverRedis);
        const config = parseConfig(process.env);
        const findings = await examine(config, conserver ?? config.plugin.conserverRedisUrl);
        const state = worst(findings);
        terminal.print(
          json
            ? JSON.stringify({ state, findings }, null, 2)
            : [...findings.map(findingText), '', VERDICTS[state]].join('\n'),
        );
        terminal.exitCode = EXIT_CODES[state];
      } catch (error) {
        if (!(error instanceof UsageError || error instanceof ConfigError || error instanceof PluginSettingsError))
          throw error;
        if (json) terminal.print(JSON.stringify({ error: error.message }, null, 2));
        else terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
