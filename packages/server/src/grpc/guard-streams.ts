import { constants, type Http2Server, type ServerHttp2Stream } from 'node:http2';

/**
 * Keeps a call that its client has taken back from ending the process: the library responds to calls of another content
 * type, or of a method it does not know, without looking whether they are still there, and that throws where nobody
 * catches it. Before the first connection.
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
      stream.on('error', () => {}); // it is gone in any case
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  });
}

function isStreamClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_HTTP2_INVALID_STREAM';
}
