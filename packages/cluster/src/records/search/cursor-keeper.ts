import { createHash } from 'node:crypto';
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
import { KeptCursors, type KeptCursorsOptions } from './kept-cursors.ts';
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
  const groups = behind.map(({ ids, replaced, ...own }) => [
    writeReach(own),
    [...ids].join(''),
    replaced ? writeReach(replaced) : 0,
  ]);
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
  const [own, ids, replaced] = readList(written, 3);
  const text = readText(ids, MAX_CURSOR_CHARACTERS);
  if (text.length % SHORT_ID !== 0) throw invalidCursor();
  const group = { ...readReach(own), ids: new Set(text.match(/.{4}/gs)) };
  return replaced === 0 ? group : { ...group, replaced: readReach(replaced) };
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
