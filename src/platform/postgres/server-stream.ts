import { Socket } from 'node:net';

/**
 * The stream of a connection to a PostgreSQL server. `pg` reads answers in a listener of `data` and throws there at one
 * that it cannot read, which would end the process. Such an answer ends its connection, which is then lost like any
 * other. Under TLS, which `pg` puts on top, bytes that were changed on the way fail before they are read.
 */
export function serverStream(): Socket {
  const socket = new Socket();
  const emit = socket.emit.bind(socket) as Socket['emit'];
  socket.emit = ((event: string, ...values: unknown[]): boolean => {
    try {
      return emit(event, ...values);
    } catch (error) {
      if (event !== 'data') throw error;
      socket.destroy(new Error('the database gave an answer that cannot be read', { cause: error }));
      return true;
    }
  }) as Socket['emit'];
  return socket;
}
