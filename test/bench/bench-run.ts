import type { BenchPlan } from './bench-plan.js';
import { type Engine, type EngineName, embeddedEngine, postgresqlEngine } from './engines.js';
import { type ServiceUnderTest, startService } from './service-under-test.js';

/** What a measurement works with. Whatever it opens here is closed when the measurement ends, the youngest first. */
export interface BenchRun {
  readonly plan: BenchPlan;
  /** Embedded first; PostgreSQL where a server is given. */
  readonly engines: readonly EngineName[];
  say(line: string): void;
  /** A fresh, empty place for data. */
  openEngine(name: EngineName): Promise<Engine>;
  /** The whole service, in a process of its own, on an engine of its own unless one is given. */
  startOn(engine: EngineName | Engine, environment?: Readonly<Record<string, string>>): Promise<ServiceUnderTest>;
  onClose(close: () => Promise<void>): void;
}

export const NO_SERVER = 'PostgreSQL: neither BENCH_DATABASE_URL nor TEST_DATABASE_URL is set';

/** Runs one measurement and closes everything that it opened. @param closers closed by the caller if it is interrupted */
export async function withRun<Result>(
  plan: BenchPlan,
  closers: (() => Promise<void>)[],
  work: (run: BenchRun) => Promise<Result>,
): Promise<Result> {
  const server = databaseServer();
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const openEngine = async (name: EngineName): Promise<Engine> => {
    if (name === 'postgresql' && !server) throw new Error(NO_SERVER);
    const engine =
      name === 'embedded' ? await embeddedEngine() : await postgresqlEngine(server!, process.env['BENCH_REDIS_URL']);
    closers.push(() => engine.remove());
    return engine;
  };
  const startOn: BenchRun['startOn'] = async (of, environment = {}) => {
    const engine = typeof of === 'string' ? await openEngine(of) : of;
    say(`starting the service on ${engine.name}`);
    const service = await startService({ ...engine, environment: { ...engine.environment, ...environment } });
    closers.push(() => service.stop());
    return service;
  };
  try {
    const engines = server ? (['embedded', 'postgresql'] as const) : (['embedded'] as const);
    return await work({ plan, engines, say, openEngine, startOn, onClose: (close) => void closers.push(close) });
  } finally {
    await closeAll(closers, say);
  }
}

/** Closes the youngest first; a failure is reported and the rest is closed. */
export async function closeAll(closers: (() => Promise<void>)[], say: (line: string) => void): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop())
    await close().catch((error: unknown) =>
      say(`cleaning up: ${error instanceof Error ? error.message : String(error)}`),
    );
}

function databaseServer(): string | undefined {
  return process.env['BENCH_DATABASE_URL'] || process.env['TEST_DATABASE_URL'];
}
