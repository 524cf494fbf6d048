import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

/** Cancelled calls per connection at once: as many as a client may have open when it disconnects. */
const BURST = 256;

/** Additional cancelled calls per second: more than any normal client needs, and little work for the node. */
const PER_SECOND = 32;

/**
 * Closes a connection that opens calls only to cancel them ("rapid reset"): each costs the client a few bytes and the node
 * a whole call. Calls with a started response are limited by Node's HTTP/2 implementation: 1,000 at once.
 */
export function limitResets(session: ServerHttp2Session, now: () => number = () => performance.now()): void {
  let tokens = BURST;
  let filledAtMs = now();
  session.on('stream', (stream: ServerHttp2Stream) => {
    stream.once('close', () => {
      if (stream.headersSent) return; // the response has started
      const timeMs = now();
      tokens = Math.min(BURST, tokens + ((timeMs - filledAtMs) * PER_SECOND) / 1000) - 1;
      filledAtMs = timeMs;
      if (tokens < 0 && !session.destroyed) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  });
}
