import pg from 'pg';

/**
 * The driver's connection to a PostgreSQL server. The driver reads the files of `sslrootcert`, `sslcert` and `sslkey` for
 * each connection and throws at once if it cannot, which would end the process where a timer or a pool connects. While a
 * file cannot be read, for example because it is being replaced, the connection fails like any other that cannot be opened.
 */
export const ServerClient = new Proxy(pg.Client, {
  construct(Client, [config]: [pg.ClientConfig]) {
    try {
      return new Client(config);
    } catch (error) {
      return failingClient(error as Error);
    }
  },
});

/** A client whose connection fails with this error. */
function failingClient(error: Error): pg.Client {
  const connect = (callback?: (error: Error) => void): Promise<never> | undefined => {
    if (!callback) return Promise.reject(error);
    process.nextTick(callback, error);
    return undefined;
  };
  return Object.assign(new pg.Client({}), { connect });
}
