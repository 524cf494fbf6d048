import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import type { Clocks } from '../../fan-out/clock.ts';
import {
  type ClusterPosition,
  checkArray,
  checkDuration,
  checkOptionalTime,
  checkTime,
  decodeCount,
  decodeReach,
  encodeCount,
  invalidCursor,
  packPosition,
  readPosition,
  unpackCursor,
  unpackPosition,
} from './cluster-cursor.ts';
import { getClock } from './cluster-deps.ts';
import { KeptCursors, type KeptCursorsOptions } from './kept-cursors.ts';
import { type BehindMembers, type ClusterReach, joinBehind, leastReach, SHORT_ID, widenReach } from './reach.ts';

/** A cursor up to this length contains all positions; beyond it they are kept. No cursor is longer. */
const MAX_CURSOR_CHARACTERS = 2000;

/** The version of cursors whose positions are kept. */
const VERSION = 2;

/** Pages in a row that continued by time and came no further; more would go on forever. */
const MAX_STALLS = 8;

const MAX_ID_CHARACTERS = 128;

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
  order: SearchQuery['order'];
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
    const packed = packPosition(found.position);
    const text = packed.toString('base64url');
    if (text.length <= this.#containsUpTo) return text;
    const id = this.#kept.keep(packed, client) ?? '';
    const { order } = found.position;
    const encode = (reach: ClusterReach) => this.#encodeKept({ ...found, reach }, { id, ...members });
    const { reach } = found;
    const attempts = [() => reach, () => joinBehind(reach, order), () => leastReach(reach, order)];
    for (const attempt of attempts) {
      const short = encode(attempt());
      if (short.length <= MAX_CURSOR_CHARACTERS) return short;
    }
    throw new Error('a cursor without exceptions is too long');
  }

  /** Throws CURSOR_INVALID for what is no cursor, CURSOR_GONE if it has come no further for several pages. */
  decode(text: string, members: CursorClocks): FoundPosition {
    const written = unpackCursor(text);
    if (!Array.isArray(written) || written[0] !== VERSION) {
      const position = readPosition(written);
      const progress = { furthestMs: position.reachedMs, stalls: 0 };
      return { order: position.order, position, reach: undefined, progress };
    }
    const token = readToken(written);
    const { order, id, node: lastNode, progress } = token;
    const kept = id === '' ? undefined : this.#kept.find(id);
    const reach: ClusterReach = { ...token.reach, ...(lastNode !== undefined && { node: lastNode }) };
    if (kept) {
      const position = unpackPosition(kept);
      if (position.order !== order) throw invalidCursor();
      return { order, position, reach, progress };
    }
    // By the same clocks, it continues exactly where it was.
    if (token.mark === clockMark(members)) return { order, position: undefined, reach, progress };
    if (progress.stalls >= MAX_STALLS) throw noProgress(reach);
    return { order, position: undefined, ...this.#widened(token, reach, members) };
  }

  close(): void {
    this.#kept.close();
  }

  #encodeKept(
    { position, reach, progress }: SearchPosition,
    { id, ...members }: CursorClocks & { id: string },
  ): string {
    const { timeMs, count, node, marginMs, startMs = null, behind } = reach;
    const written = [
      VERSION,
      position.order,
      this.#selfId,
      id,
      timeMs,
      encodeCount(count),
      node ?? 0,
      marginMs,
      startMs,
      clockMark(members),
      largestUncertainty(members),
      progress.furthestMs,
      progress.stalls,
      behind.map((group) => [group.timeMs, encodeCount(group.count), [...group.ids].join(''), ...writeReplaced(group)]),
    ];
    return deflateRawSync(JSON.stringify(written)).toString('base64url');
  }

  /** By the clocks as this node knows them now, and earlier by what is uncertain about them. */
  #widened(
    { giver, uncertaintyMs, order, progress }: Token,
    reach: ClusterReach,
    members: CursorClocks,
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

interface Token {
  order: SearchQuery['order'];
  giver: string;
  id: string;
  reach: ClusterReach;
  node: string | undefined;
  mark: string;
  uncertaintyMs: number;
  progress: Progress;
}

function readToken(written: unknown): Token {
  const [, order, giver, id, timeMs, count, node, marginMs, startMs, ...rest] = checkArray(written, 14);
  const [mark, uncertaintyMs, furthestMs, stalls, behind] = rest;
  if (order !== 'newest' && order !== 'oldest') throw invalidCursor();
  if (!isText(giver) || !isText(id) || !isText(mark) || !(node === 0 || isText(node))) throw invalidCursor();
  if (!Number.isSafeInteger(stalls) || Number(stalls) < 0 || !Array.isArray(behind)) throw invalidCursor();
  const reach = {
    timeMs: checkOptionalTime(timeMs),
    count: decodeCount(count),
    marginMs: checkDuration(marginMs),
    ...(startMs !== null && { startMs: checkTime(startMs) }),
    behind: behind.map((group) => {
      const hasReplaced = Array.isArray(group) && group.length === 4;
      const [time, groupCount, ids, replaced] = checkArray(group, hasReplaced ? 4 : 3);
      if (typeof ids !== 'string' || ids.length % SHORT_ID !== 0) throw invalidCursor();
      const own = { timeMs: checkOptionalTime(time), count: decodeCount(groupCount), ids: splitIds(ids) };
      return hasReplaced ? { ...own, replaced: decodeReach(replaced) } : own;
    }),
  };
  const progress = { furthestMs: checkOptionalTime(furthestMs), stalls: Number(stalls) };
  const facts = { order, giver, id, mark, progress, uncertaintyMs: checkDuration(uncertaintyMs) } as const;
  return { ...facts, reach, node: node === 0 ? undefined : node };
}

function writeReplaced({ replaced }: BehindMembers): unknown[] {
  return replaced ? [[replaced.timeMs, encodeCount(replaced.count)]] : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_ID_CHARACTERS;
}

function splitIds(text: string): ReadonlySet<string> {
  return new Set(text.match(/.{4}/gs));
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
