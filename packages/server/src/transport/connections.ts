import type { EventEmitter } from 'node:events';
import { createReadStream } from 'node:fs';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { ListenOptions, Server, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expectCode } from '../errors.ts';

/**
 * For a socket, session or stream whose loss is dealt with when it closes: without a listener its error would end the
 * process.
 */
export function reportedByClose(lost: EventEmitter): void {
  lost.on('error', () => {}); // `close` follows
}

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

/** The system asks the other side of a quiet connection after this long; ten probes without an answer end it. */
const KEEP_ALIVE_MS = 20_000;

const SWEEP_MS = 7_500;

/** Sweeps in a row that find bytes sent again and not acknowledged. */
const MOST_SWEEPS = 4;

/** Connections of the network namespace of this process, IPv4 and IPv6; only Linux has them. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** A row has the ports of both sides, the state "established", the timer, and how often bytes were sent again. */
const ROW = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) 01 \S+ (\d\d):\S+ ([0-9A-F]+)/;

/** The timer that sends bytes again. A client that does not read, but lives, acknowledges them or has closed its window. */
const RETRANSMITTING = '01';

/**
 * Connections whose other side is gone without a word: a machine without power, a cable, a firewall that forgot it. The
 * system notices it if nothing is on the way; while there is, as in every follow with heartbeats, it tries for a quarter of
 * an hour. Both take less than a minute here.
 */
export class LostConnections {
  readonly #sweepMs: number;
  /** How many streams need it, and sweeps in a row that found it stuck. */
  readonly #watched = new Map<Socket, { users: number; stuck: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ sweepMs = SWEEP_MS }: { sweepMs?: number } = {}) {
    this.#sweepMs = sweepMs;
  }

  /** Destroys the socket when its other side is gone. Returns what ends that; not for Unix sockets. */
  watch(socket: Socket | undefined): () => void {
    if (socket?.remotePort === undefined) return () => {};
    const entry = this.#watched.get(socket) ?? { users: 0, stuck: 0 };
    if (entry.users++ === 0) socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#watched.set(socket, entry);
    this.#timer ??= setInterval(() => void this.#sweep(), this.#sweepMs).unref();
    return () => {
      if (--entry.users === 0) this.#watched.delete(socket);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #sweep(): Promise<void> {
    const stuck = await readStuck();
    for (const [socket, entry] of this.#watched) {
      entry.stuck = stuck.get(`${socket.localPort} ${socket.remotePort}`) ? entry.stuck + 1 : 0;
      if (entry.stuck >= MOST_SWEEPS) socket.destroy();
    }
  }
}

/** Whether connections wait for acknowledgements, by both ports: clients of two addresses may have the same, so all of them. */
async function readStuck(): Promise<Map<string, boolean>> {
  const stuck = new Map<string, boolean>();
  for (const table of TABLES) {
    try {
      // In parts, between which others are served: 50,000 connections take a third of a second.
      let rest = '';
      for await (const chunk of createReadStream(table, 'latin1')) {
        const rows = (rest + chunk).split('\n');
        rest = rows.pop() ?? '';
        for (const row of rows) noteRow(row, stuck);
        await nextTurn();
      }
    } catch (error) {
      // It does not exist where this is not Linux, or there is no IPv6; or no more files can be opened now.
      expectCode(error);
    }
  }
  return stuck;
}

function noteRow(row: string, stuck: Map<string, boolean>): void {
  const [, local = '', remote = '', timer, again = ''] = ROW.exec(row) ?? [];
  if (local === '') return;
  const key = `${Number.parseInt(local, 16)} ${Number.parseInt(remote, 16)}`;
  const isStuck = timer === RETRANSMITTING && Number.parseInt(again, 16) > 0;
  stuck.set(key, isStuck && (stuck.get(key) ?? true));
}

/** Codes of RFC 9113: `node:http2`, which has their names, is loaded only by who uses it. */
const NO_ERROR = 0;
const ENHANCE_YOUR_CALM = 11;

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
      if (stream.rstCode === NO_ERROR) return;
      const timeMs = now();
      tokens = Math.min(burst, tokens + ((timeMs - filledAtMs) * RESETS_PER_SECOND) / 1000) - 1;
      filledAtMs = timeMs;
      if (tokens >= 0 || isOver) return;
      isOver = true;
      // Later: destroying a session while it handles a frame can crash Node.js 20 (std::bad_alloc).
      setImmediate(() => session.destroy(undefined, ENHANCE_YOUR_CALM));
    });
  });
}
