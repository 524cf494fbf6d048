import { constants, type Http2Server, type ServerHttp2Stream } from 'node:http2';

/**
 * Keeps a cancelled call from crashing the process: the library responds to calls with a wrong content type or an unknown
 * method without checking whether the stream still exists, and the error is not caught anywhere. Call it before the first
 * connection.
 */
export function guardStreams(server: Http2Server, onError: (error: unknown) => void): void {
  const listeners = server.listeners('stream');
  server.removeAllListeners('stream');
  server.on('stream', (stream: ServerHttp2Stream, ...rest: unknown[]) => {
    if (stream.destroyed) return;
    try {
      for (const listener of listeners) listener.call(server, stream, ...rest);
    } catch (error) {
      if (!isStreamClosed(error)) onError(error);
      stream.on('error', () => {}); // closed anyway
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  });
}

function isStreamClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_HTTP2_INVALID_STREAM';
}
