import pg from 'pg';

/**
 * A connection to a PostgreSQL server. `pg` reads the files of `sslrootcert`, `sslcert` and `sslkey` for each connection
 * and throws at once if it cannot, which would end the process where a timer or a pool connects. While a file cannot be
 * read, for example because it is replaced, the connection fails as every other that cannot be opened.
 */
export class ServerClient extends pg.Client {
  declare private readonly unreadable: Error | undefined;

  // biome-ignore lint/correctness/noUnreachableSuper: the second call follows a first one that has thrown
  constructor(config?: pg.ClientConfig) {
    let unreadable: Error | undefined;
    try {
      super(config);
    } catch (error) {
      super({});
      unreadable = error as Error;
    }
    Object.defineProperty(this, 'unreadable', { value: unreadable });
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    if (!callback) return this.unreadable ? Promise.reject(this.unreadable) : super.connect().then(() => this);
    if (this.unreadable) process.nextTick(callback, this.unreadable);
    else super.connect(callback);
    return undefined;
  }
}
