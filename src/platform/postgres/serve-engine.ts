import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { concatBytes } from '../../core/bytes.js';
import { DurableFiles, type DurableFilesOptions } from './durable-files.js';
import type { FromEngine, ToEngine } from './engine-messages.js';

/** Start options of the engine. Without -F it syncs; with the fdatasync method, it did not sync every commit in tests. */
const START = [...PGlite.defaultStartParams.filter((option) => option !== '-F'), ...['-c', 'wal_sync_method=fsync']];

/**
 * V8 compiles the engine's functions again, optimised, when they have run for about so many bytes of their code. With its
 * own 1.8 million, most of what a start runs was compiled while it ran: with data, a start took 1.5 s (median of five),
 * with this number 1.1 s. Under load, fourteen rounds showed no loss, but single rounds differed by half (Node 20, two
 * cores).
 */
const OPTIMISED_AFTER = 100_000_000;

/** The engine's own lock. A process that opens a cluster has locked its folder, or made it. */
const ENGINE_LOCK = 'postmaster.pid';

/** How an engine works. */
interface EngineOptions {
  readonly sync?: DurableFilesOptions['sync'];
  /**
   * The engine clears its buffers when it starts, so that all of them are resident: its own 128 MB were a third of the
   * process. The operating system keeps the files' pages as well.
   */
  readonly buffers?: `${number}MB`;
}

/**
 * Serves one engine to the holder of the other end of the port (`start-engine.ts`), until that end asks to close it.
 */
export function serveEngine(port: MessagePort, { sync, buffers = '64MB' }: EngineOptions = {}): void {
  let engine: PGlite | undefined;

  function died(reason: string): never {
    port.postMessage({ died: reason } satisfies FromEngine);
    // What the engine does after that would never end.
    process.exit(1);
  }

  async function answerTo(message: ToEngine): Promise<FromEngine> {
    if (message === 'close') {
      await engine?.close();
      return 'closed';
    }
    if ('cluster' in message) {
      // The engine starts on no lock that a crash has left empty.
      await rm(join(message.cluster, ENGINE_LOCK), { force: true });
      engine = await openCluster(new DurableFiles(message.cluster, { sync, died }), buffers);
      return 'opened';
    }
    const answers: Uint8Array[] = [];
    // The engine reuses the bytes when it goes on.
    const onRawData = (bytes: Uint8Array): void => void answers.push(bytes.slice());
    await engine!.execProtocolRawStream(message, { syncToFs: false, onRawData });
    return concatBytes(...answers);
  }

  port.on('message', async (message: ToEngine) => {
    const answer = await answerTo(message).catch(
      ({ message: failed, code }: Error & { code?: string }): FromEngine => ({ failed, code }),
    );
    port.postMessage(answer, answer instanceof Uint8Array ? [answer.buffer as ArrayBuffer] : []);
    if (answer === 'closed') port.close();
  });
}

/** Starts the engine on a cluster and recovers from a crash. @throws {Error} with what the engine says */
async function openCluster(files: DurableFiles, buffers: string): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMISED_AFTER}`);
  try {
    return await PGlite.create({ fs: files, startParams: [...START, '-c', `shared_buffers=${buffers}`] });
  } catch (error) {
    throw files.reason === undefined ? error : new Error(files.reason, { cause: error });
  }
}
