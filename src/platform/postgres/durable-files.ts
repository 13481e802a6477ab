import { fsyncSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface EmscriptenStream {
  readonly nfd: number;
}
interface EmscriptenModule {
  readonly FS: { readonly ErrnoError: new (errno: number) => Error };
  readonly NODEFS: {
    readonly stream_ops: { fsync?: (stream: EmscriptenStream) => number };
    convertNodeCode(error: unknown): number;
  };
}
interface EmscriptenOptions {
  readonly preRun: ((module: EmscriptenModule) => void)[];
  printErr?: (line: string) => void;
  onAbort?: () => void;
}

/** What the engine says before it gives up: FATAL when it cannot start, else PANIC. */
const GIVES_UP = /(?:FATAL|PANIC):.*/;

/** What the engine's files are given. */
export interface DurableFilesOptions {
  /** Writes a file to the disk, or throws the system's error. */
  readonly sync?: ((descriptor: number) => void) | undefined;
  /** Called when the engine has given up, for example because a sync has failed. It must not return: what follows is undefined. */
  readonly died: (reason: string) => never;
}

/**
 * PGlite's folder with real syncing. Its Node file system has no fsync: commits would survive kill -9 but not a power
 * failure, because they stay in the operating system's cache. This class adds fsync. It relies on an internal of the
 * engine, so the engine's version is pinned and a test counts the calls.
 */
export class DurableFiles extends NodeFS {
  readonly #options: DurableFilesOptions;
  #reason: string | undefined;

  constructor(folder: string, options: DurableFilesOptions) {
    super(folder);
    this.#options = options;
  }

  /** Why the engine has given up, if it said so. */
  get reason(): string | undefined {
    return this.#reason;
  }

  override async init(...parameters: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const ready = await super.init(...parameters);
    const { sync = fsyncSync, died } = this.#options;
    const options = ready.emscriptenOpts as unknown as EmscriptenOptions;
    // Its other lines may tell what is in the database.
    options.printErr = (line) => {
      this.#reason = GIVES_UP.exec(line)?.[0] ?? this.#reason;
    };
    options.onAbort = () => died(this.#reason ?? 'it gave no reason');
    options.preRun.push(({ FS, NODEFS }) => {
      NODEFS.stream_ops.fsync = ({ nfd }) => {
        try {
          sync(nfd);
          return 0;
        } catch (error) {
          // Of another error the engine would not learn, and confirm the commit.
          throw new FS.ErrnoError(NODEFS.convertNodeCode(error));
        }
      };
    });
    return ready;
  }
}
