import { createHash, randomBytes } from 'node:crypto';
import { PortholeError } from '@porthole/contract';
import {
  invalidCursor,
  isCursorOf,
  packCursor,
  readInteger,
  readList,
  readOptionalTime,
  readText,
  readTime,
  unpackCursor,
} from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import type { Clocks } from '../../fan-out/clock.ts';
import {
  type ClusterPosition,
  decodeClusterCursor,
  encodeClusterCursor,
  MAX_ID_CHARACTERS,
  readDuration,
  readReach,
  writeReach,
} from './cluster-cursor.ts';
import { getClock } from './cluster-deps.ts';
import { type BehindMembers, type ClusterReach, joinBehind, leastReach, SHORT_ID, widenReach } from './reach.ts';

type Order = SearchQuery['order'];

/** A cursor up to this length contains all positions; beyond it they are kept. No cursor is longer. */
const MAX_CURSOR_CHARACTERS = 2000;

/** Pages in a row that continued by time and came no further; more would go on forever. */
const MAX_STALLS = 8;

/** The uncertainty of a clock that was never measured. */
const MAX_UNCERTAINTY_MS = 60_000;

/** Where a search is: exactly, and as it can be computed again. */
export interface SearchPosition {
  position: ClusterPosition;
  reach: ClusterReach;
  progress: Progress;
}

/** Whether a search comes further although its positions are lost again and again. */
export interface Progress {
  /** The furthest time that was reached. */
  furthestMs: number | null;
  /** How often records were repeated since. */
  stalls: number;
}

/** A decoded cursor. */
export interface FoundPosition {
  /** `undefined` if it is no longer known. */
  position: ClusterPosition | undefined;
  /** `undefined` if the cursor contains all positions. */
  reach: ClusterReach | undefined;
  progress: Progress;
}

/** The members of a search and their clocks. */
export interface CursorClocks {
  ids: readonly string[];
  clocks: Clocks;
}

export interface CursorKeeperOptions extends KeptCursorsOptions {
  /** Cursors up to this length contain all positions. */
  containsUpTo?: number;
}

/** Cursors of bounded length: what does not fit into one is kept here, and continues by time when it is gone. */
export class CursorKeeper {
  readonly #selfId: string;
  readonly #containsUpTo: number;
  readonly #kept: KeptCursors;

  constructor(selfId: string, { containsUpTo = MAX_CURSOR_CHARACTERS, ...options }: CursorKeeperOptions = {}) {
    this.#selfId = selfId;
    this.#containsUpTo = containsUpTo;
    this.#kept = new KeptCursors(options);
  }

  get usage(): { count: number; bytes: number } {
    return this.#kept.usage;
  }

  encode(found: SearchPosition, { client = '', ...members }: CursorClocks & { client?: string | undefined }): string {
    const whole = encodeClusterCursor(found.position);
    if (whole.length <= this.#containsUpTo) return whole;
    const id = this.#kept.keep(whole, client) ?? '';
    const { order } = found.position;
    const { reach } = found;
    const attempts = [() => reach, () => joinBehind(reach, order), () => leastReach(reach, order)];
    for (const attempt of attempts) {
      const values = writeToken({ ...found, reach: attempt() }, { giver: this.#selfId, id, ...members });
      const short = packCursor({ kind: 'kept', order }, values);
      if (short.length <= MAX_CURSOR_CHARACTERS) return short;
    }
    throw new Error('a cursor without exceptions is too long');
  }

  /** Throws CURSOR_INVALID for what is no cursor of this order, CURSOR_GONE if it has come no further for several pages. */
  decode(text: string, { order, ...members }: CursorClocks & { order: Order }): FoundPosition {
    if (!isCursorOf('kept', text)) {
      const position = decodeClusterCursor(text, order);
      return { position, reach: undefined, progress: { furthestMs: position.reachedMs, stalls: 0 } };
    }
    const token = readToken(unpackCursor({ kind: 'kept', order }, text));
    const { id, reach, progress } = token;
    const kept = this.#kept.find(id);
    if (kept !== undefined) return { position: decodeClusterCursor(kept, order), reach, progress };
    // By the same clocks, it continues exactly where it was.
    if (token.mark === clockMark(members)) return { position: undefined, reach, progress };
    if (progress.stalls >= MAX_STALLS) throw noProgress(reach);
    return { position: undefined, ...this.#widened(token, { order, ...members }) };
  }

  /** By the clocks as this node knows them now, and earlier by what is uncertain about them. */
  #widened(
    { giver, uncertaintyMs, reach, progress }: Token,
    { order, ...members }: CursorClocks & { order: Order },
  ): Pick<SearchPosition, 'reach' | 'progress'> {
    const other = giver === this.#selfId ? { offsetMs: 0, uncertaintyMs: 0 } : getClock(members.clocks, giver);
    const slackMs = Math.ceil(uncertaintyMs + largestUncertainty(members) + other.uncertaintyMs);
    const shiftMs = -other.offsetMs;
    const furthestMs = progress.furthestMs === null ? null : progress.furthestMs + shiftMs;
    return {
      reach: widenReach(reach, { shiftMs, slackMs, order }),
      progress: { furthestMs, stalls: progress.stalls + 1 },
    };
  }
}

/** What a cursor has instead of the positions that are kept. */
interface Token {
  /** The node that keeps them, and their id there. */
  giver: string;
  id: string;
  reach: ClusterReach;
  /** See `clockMark`. */
  mark: string;
  uncertaintyMs: number;
  progress: Progress;
}

function writeToken(
  { reach, progress }: SearchPosition,
  { giver, id, ...members }: CursorClocks & Pick<Token, 'giver' | 'id'>,
): unknown[] {
  const { node = null, marginMs, startMs = null, behind } = reach;
  const groups = behind.map(({ ids, ...own }) => [writeReach(own), [...ids].join('')]);
  const clocks = [clockMark(members), largestUncertainty(members)];
  return [
    giver,
    id,
    writeReach(reach),
    node,
    marginMs,
    startMs,
    ...clocks,
    progress.furthestMs,
    progress.stalls,
    groups,
  ];
}

function readToken(written: readonly unknown[]): Token {
  const [giver, id, reached, node, marginMs, startMs, ...rest] = readList(written, 11);
  const [mark, uncertaintyMs, furthestMs, stalls, behind] = rest;
  const reach = {
    ...readReach(reached),
    ...(node !== null && { node: readText(node, MAX_ID_CHARACTERS) }),
    marginMs: readDuration(marginMs),
    ...(startMs !== null && { startMs: readTime(startMs) }),
    behind: readList(behind).map(readBehind),
  };
  return {
    giver: readText(giver, MAX_ID_CHARACTERS),
    id: readText(id, MAX_ID_CHARACTERS),
    reach,
    mark: readText(mark, MAX_ID_CHARACTERS),
    uncertaintyMs: readDuration(uncertaintyMs),
    progress: { furthestMs: readOptionalTime(furthestMs), stalls: readInteger(stalls) },
  };
}

function readBehind(written: unknown): BehindMembers {
  const [own, ids] = readList(written, 2);
  const text = readText(ids, MAX_CURSOR_CHARACTERS);
  if (text.length % SHORT_ID !== 0) throw invalidCursor();
  return { ...readReach(own), ids: new Set(text.match(/.{4}/gs)) };
}

/** Clocks that are right are not listed: a member that joins or leaves changes nothing. */
function clockMark({ ids, clocks }: CursorClocks): string {
  const wrong = ids.flatMap((id) => {
    const { offsetMs } = getClock(clocks, id);
    return offsetMs === 0 ? [] : [`${id}:${offsetMs}`];
  });
  if (wrong.length === 0) return '';
  return createHash('sha256').update(wrong.sort().join()).digest('base64url').slice(0, 12);
}

function largestUncertainty({ ids, clocks }: CursorClocks): number {
  const largest = ids.reduce((most, id) => Math.max(most, getClock(clocks, id).uncertaintyMs), 0);
  return Math.min(MAX_UNCERTAINTY_MS, Math.ceil(largest));
}

function noProgress({ timeMs }: ClusterReach): PortholeError {
  const from = timeMs === null ? 'from the start' : `from ${new Date(timeMs).toISOString()}`;
  return new PortholeError(
    'CURSOR_GONE',
    `the position of this search was lost ${MAX_STALLS} times in a row: search again ${from}, with a larger limit`,
  );
}

/** For all clients together. */
const MAX_COUNT = 4000;
const MAX_BYTES = 32 * 1024 ** 2;

/** After the last use. A page is usually requested within seconds of the one before. */
const MAX_AGE_MS = 30 * 60_000;

/** A client has at most this part of the count and of the bytes: one that never stops must not push out the others. */
const CLIENT_SHARE = 0.25;

const ID_BYTES = 12;

export interface KeptCursorsOptions {
  maxCount?: number;
  maxBytes?: number;
  maxAgeMs?: number;
  /** Monotonic. */
  nowMs?: () => number;
}

interface Entry {
  client: string;
  cursor: string;
  usedMs: number;
}

interface Usage {
  count: number;
  bytes: number;
}

/** Cursors that are too long to be returned: kept in memory, the least recently used removed first. */
export class KeptCursors {
  readonly #limits: Usage & { maxAgeMs: number };
  readonly #nowMs: () => number;
  /** By id, the least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor({
    maxCount = MAX_COUNT,
    maxBytes = MAX_BYTES,
    maxAgeMs = MAX_AGE_MS,
    nowMs = () => performance.now(),
  }: KeptCursorsOptions = {}) {
    this.#limits = { count: maxCount, bytes: maxBytes, maxAgeMs };
    this.#nowMs = nowMs;
  }

  get usage(): Usage {
    this.#expire();
    return sum(this.#entries.values());
  }

  /** Keeps a cursor for a client; `undefined` if it is larger than its share. */
  keep(cursor: string, client: string): string | undefined {
    this.#expire();
    const share = { count: Math.ceil(this.#limits.count * CLIENT_SHARE), bytes: this.#limits.bytes * CLIENT_SHARE };
    if (cursor.length > share.bytes) return undefined;
    // Unguessable: nobody gets at the position of another client.
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.#entries.set(id, { client, cursor, usedMs: this.#nowMs() });
    while (isAbove(sum(this.#ofClient(client)), share)) this.#removeOldest(client);
    while (isAbove(sum(this.#entries.values()), this.#limits)) this.#removeOldest(this.#largestClient());
    return id;
  }

  find(id: string): string | undefined {
    this.#expire();
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    entry.usedMs = this.#nowMs();
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry.cursor;
  }

  #ofClient(client: string): Entry[] {
    return [...this.#entries.values()].filter((entry) => entry.client === client);
  }

  #removeOldest(client: string): void {
    const [oldest] = [...this.#entries].find(([, entry]) => entry.client === client) ?? [];
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  #largestClient(): string {
    const bytes = new Map<string, number>();
    for (const { client, cursor } of this.#entries.values())
      bytes.set(client, (bytes.get(client) ?? 0) + cursor.length);
    return [...bytes].reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['', -1])[0];
  }

  #expire(): void {
    const oldestMs = this.#nowMs() - this.#limits.maxAgeMs;
    for (const [id, { usedMs }] of this.#entries) {
      if (usedMs >= oldestMs) return;
      this.#entries.delete(id);
    }
  }
}

/** A cursor is ASCII. */
function sum(entries: Iterable<Entry>): Usage {
  const usage = { count: 0, bytes: 0 };
  for (const { cursor } of entries) {
    usage.count++;
    usage.bytes += cursor.length;
  }
  return usage;
}

function isAbove(usage: Usage, limits: Usage): boolean {
  return usage.count > limits.count || usage.bytes > limits.bytes;
}
