import type { ListenOptions, Server } from 'node:net';

/**
 * Binds a server. Rejects with the system's error if the address cannot be bound. Later errors, of connections that the
 * system cannot accept, go to `onError`: a server has a listener for them as long as it lives.
 */
export function listen(server: Server, where: ListenOptions, onError: (error: Error) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      reject(error);
      if (server.listening) onError(error);
      else server.off('error', fail); // it can be bound to another address
    };
    server.on('error', fail);
    server.listen(where, resolve);
  });
}
