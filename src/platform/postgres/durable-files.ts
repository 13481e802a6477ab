import { fsyncSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface EmscriptenStream {
  readonly nfd: number;
}
interface EmscriptenModule {
  readonly NODEFS: { stream_ops: { fsync?: (stream: EmscriptenStream) => number } };
}
interface EmscriptenOptions {
  readonly emscriptenOpts: { readonly preRun: ((module: EmscriptenModule) => void)[] };
}

/**
 * PGlite's folder with real syncing. Its Node file system has no fsync: commits would survive kill -9 but not a power
 * failure, because they stay in the operating system's cache. This class adds fsync. It relies on an internal of the
 * engine, so the engine's version is pinned and a test counts the calls.
 */
export class DurableFiles extends NodeFS {
  readonly #sync: (descriptor: number) => void;

  constructor(folder: string, sync: (descriptor: number) => void = fsyncSync) {
    super(folder);
    this.#sync = sync;
  }

  override async init(...parameters: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const ready = await super.init(...parameters);
    const sync = this.#sync;
    (ready as unknown as EmscriptenOptions).emscriptenOpts.preRun.push((module) => {
      module.NODEFS.stream_ops.fsync = (stream) => {
        sync(stream.nfd);
        return 0;
      };
    });
    return ready;
  }
}
