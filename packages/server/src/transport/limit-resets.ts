import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

/** Additional cancelled calls per second: more than any normal client needs, and little work for the node. */
const RESETS_PER_SECOND = 32;

interface ResetLimit {
  /** Cancelled calls at once: as many as a client may have open when it leaves all of them. */
  burst: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/**
 * Closes a connection that opens calls only to cancel them ("rapid reset"): each costs the client a few bytes and the node
 * a whole call. All count, also those with a started response: the library responds to calls that are cancelled already.
 * Node.js has a limit of its own, 1,000 at once, which cannot be changed in Node.js 20.
 */
export function limitResets(session: ServerHttp2Session, { burst, now = () => performance.now() }: ResetLimit): void {
  let tokens = burst;
  let filledAtMs = now();
  let isOver = false;
  session.on('stream', (stream: ServerHttp2Stream) => {
    stream.once('close', () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
      const timeMs = now();
      tokens = Math.min(burst, tokens + ((timeMs - filledAtMs) * RESETS_PER_SECOND) / 1000) - 1;
      filledAtMs = timeMs;
      if (tokens >= 0 || isOver) return;
      isOver = true;
      // Later: destroying a session while it handles a frame can crash Node.js 20 (std::bad_alloc).
      setImmediate(() => session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM));
    });
  });
}
