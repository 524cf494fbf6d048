import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

/** Calls that may be taken back on one connection at once: as many as a client may have under way when it leaves. */
const BURST = 256;

/** How many more each second: far beyond clients that lose their patience, and little work for the node. */
const PER_SECOND = 32;

/**
 * Closes a connection that opens calls only to take them back ("rapid reset"): each costs the client a few bytes and the
 * node a whole call. Calls that the node has begun to respond to are left to the limit of HTTP/2 in Node.js: 1,000 at once.
 */
export function limitResets(session: ServerHttp2Session, now: () => number = () => performance.now()): void {
  let tokens = BURST;
  let filledAtMs = now();
  session.on('stream', (stream: ServerHttp2Stream) => {
    stream.once('close', () => {
      if (stream.headersSent) return; // it was answered
      const timeMs = now();
      tokens = Math.min(BURST, tokens + ((timeMs - filledAtMs) * PER_SECOND) / 1000) - 1;
      filledAtMs = timeMs;
      if (tokens < 0 && !session.destroyed) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  });
}
