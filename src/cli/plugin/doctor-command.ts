import type { Command } from 'commander';
import { pino } from 'pino';
import { examineCaptureRedis, examineDoubles } from '../../../plugins/operator/examine-capture.js';
import { examineQueue } from '../../../plugins/operator/examine-queue.js';
import { examineConserverRedis, examineQueueRedis } from '../../../plugins/operator/examine-redis.js';
import { examineRoom } from '../../../plugins/operator/examine-room.js';
import { examineService } from '../../../plugins/operator/examine-service.js';
import { examineSpool } from '../../../plugins/operator/examine-spool.js';
import type { Finding, FindingState } from '../../../plugins/operator/finding.js';
import { oneLineForEachCause } from '../../../plugins/operator/one-cause.js';
import { spoolPlace } from '../../../plugins/operator/spool-place.js';
import { systemClock } from '../../platform/clock.js';
import { reachableHost } from '../../platform/reachable-host.js';
import { type Config, ConfigError, parseConfig } from '../../service/config/config.js';
import { pluginCredentials } from '../../service/plugin-credentials.js';
import { watchPluginDisks } from '../../service/watch-disks.js';
import { examples } from '../help-examples.js';
import { serviceUrl } from '../service-url.js';
import { EXIT_USAGE, jsonLines, type Terminal } from '../terminal.js';
import { openOperatorQueue } from './open-operator-queue.js';

const EXIT_CODES: Readonly<Record<FindingState, number>> = { ok: 0, change: 1, broken: 2 };
const MARKS: Readonly<Record<FindingState, string>> = { ok: 'ok    ', change: 'CHANGE', broken: 'BROKEN' };

class UsageError extends Error {}

interface DoctorOptions {
  readonly conserverRedis?: string;
  readonly json?: boolean;
}

function conserverUrl(text: string): string {
  if (/^rediss?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--conserver-redis must be a URL that begins with redis:// or rediss://');
}

/** Metrics of the plugin that runs on this machine with the same configuration. Undefined if its port is not known. */
function metricsUrl({ plugin: { host, port, tls } }: Config): string | undefined {
  return port === 0 ? undefined : `${tls ? 'https' : 'http'}://${reachableHost(host)}:${port}/metrics`;
}

async function examine(config: Config, conserver: string | undefined): Promise<Finding[]> {
  const { plugin, redisUrl } = config;
  const service = {
    url: serviceUrl(config),
    ...((await pluginCredentials(config)) ?? { clientId: '', clientSecret: '' }),
  };
  const logger = pino({ level: 'silent' });
  const findings = await Promise.all([
    redisUrl ? examineQueueRedis(redisUrl) : [],
    conserver ? examineConserverRedis(conserver, redisUrl) : [],
    plugin.conserverRedisUrl ? examineCaptureRedis(plugin.conserverRedisUrl, plugin, systemClock) : [],
    examineQueue(() => openOperatorQueue(config, logger), metricsUrl(config), systemClock),
    examineDoubles(config, logger, systemClock),
    examineSpool(spoolPlace(config.dataDir), systemClock),
    // A Redis that is full is found by its own examination.
    examineRoom(watchPluginDisks(config, { logger, queueIsFull: async () => false })),
    examineService(service, systemClock),
  ]);
  return oneLineForEachCause(findings.flat());
}

function findingLines({ check, state, found, change }: Finding): string[] {
  return [`${MARKS[state]}  ${check}: ${found}`, ...(change === undefined ? [] : [`        → ${change}`])];
}

function worst(findings: readonly Finding[]): FindingState {
  const states = findings.map(({ state }) => state);
  return states.includes('broken') ? 'broken' : states.includes('change') ? 'change' : 'ok';
}

const VERDICTS: Readonly<Record<FindingState, string>> = {
  ok: 'All is well.',
  change: 'It works, but something should be changed.',
  broken: 'Something is broken.',
};

/**
 * `doctor`, also `plugin doctor`: examines everything that the conserver plugin depends on, with the configuration in the
 * environment, and says what to change. Captures and records nothing. Exit code 0: all is well; 1: something should be
 * changed; 2: something is broken, or the configuration is invalid.
 */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .description(
      'examine the conserver plugin’s queue, Redis, capture methods, credentials and clock, and say what to change',
    )
    .option('--conserver-redis <url>', 'also examine the conserver’s Redis; default CONSERVER_REDIS_URL')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples('vcon-archivist doctor', 'vcon-archivist doctor --conserver-redis redis://conserver-redis:6379'),
    )
    .action(async ({ conserverRedis, json }: DoctorOptions) => {
      try {
        const conserver = conserverRedis === undefined ? undefined : conserverUrl(conserverRedis);
        const config = parseConfig(process.env);
        const findings = await examine(config, conserver ?? config.plugin.conserverRedisUrl);
        const state = worst(findings);
        terminal.print(
          json ? jsonLines({ state, findings }) : [...findings.flatMap(findingLines), '', VERDICTS[state]],
        );
        terminal.exitCode = EXIT_CODES[state];
      } catch (error) {
        if (!(error instanceof UsageError || error instanceof ConfigError)) throw error;
        if (json) terminal.print(jsonLines({ error: error.message }));
        else terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
