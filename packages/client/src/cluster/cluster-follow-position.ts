import {
  type ClusterFollowItem,
  decodeFollowPositions,
  encodeFollow,
  encodeFollowPositions,
  MAX_BODY_BYTES,
  type MemberSelection,
} from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs/types';
import { joinCursors, LogPositions } from '@porthole/records';
import type { FollowPosition } from '../follow/follow.ts';
import type { Clock } from '../retry.ts';

/**
 * A follow resumes this long before its newest record: records of slower members may still have been in flight. Longer than
 * the reorder window of a node and the lag of following a file.
 */
const MARGIN_MS = 5000;

/** Minimum number of delivered records to remember: enough for some thousand records per second. */
const MAX_REMEMBERED = 10_000;

/** Maximum length of positions; the rest of the body is for the other parameters. Beyond it, a follow resumes by time. */
const POSITIONS_CHARACTERS = MAX_BODY_BYTES - 64 * 1024;

/** The same for nodes that accept no parameters in a body. */
const SHORT_POSITIONS_CHARACTERS = 6 * 1024;

/** Members whose position is remembered: the maximum size of a cluster. */
const MAX_MEMBERS = 10_000;

/**
 * The position of a cluster follow. It resumes after the last record of each log of each member, independent of their clocks;
 * by time if the cluster is too large for that. Records already delivered are dropped.
 */
export class ClusterFollowPosition implements FollowPosition<ClusterFollowItem> {
  readonly #query: FollowQuery & MemberSelection;
  readonly #clock: Clock;
  readonly #encode: typeof encodeFollow;
  /** The most recently delivered records, and those before them. */
  #delivered = new Set<string>();
  #deliveredBefore = new Set<string>();
  readonly #positions = new Map<string, LogPositions>();
  #beganMs: number | undefined;
  #newestMs: number | undefined;
  #wasQuiet = false;
  #maxCharacters = POSITIONS_CHARACTERS;

  constructor(query: FollowQuery & MemberSelection, clock: Clock, encode = encodeFollow) {
    this.#query = query;
    this.#encode = encode;
    this.#clock = clock;
    const { start } = query;
    const asked = start !== 'end' && 'cursor' in start ? decodeFollowPositions(start.cursor) : [];
    for (const [id, base] of asked) this.#positions.set(id, new LogPositions(base));
  }

  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  track(items: ClusterFollowItem[], { heartbeat }: { heartbeat: boolean }): ClusterFollowItem[] {
    this.#wasQuiet ||= heartbeat;
    const nowMs = this.#clock.now();
    return items.filter((item) => {
      if (item.type === 'position') this.#positionOf(item.node).locate(item.cursor);
      if (item.type !== 'record') return true;
      // A timestamp in the future would skip everything written until then.
      const atMs = Math.min(item.atMs ?? -Infinity, nowMs);
      if (item.atMs !== undefined) this.#newestMs = Math.max(this.#newestMs ?? atMs, atMs);
      const isNew = this.#isNew(`${item.node} ${item.cursor}`, item.unfinished);
      if (isNew && !item.unfinished && item.cursor !== '') this.#positionOf(item.node).track(item);
      return isNew;
    });
  }

  shorten(): void {
    this.#maxCharacters = SHORT_POSITIONS_CHARACTERS;
  }

  /** Resumes by time; members report gaps themselves. */
  forget(): ClusterFollowItem[] {
    this.#positions.clear();
    return [];
  }

  request(nowMs: number): { query: URLSearchParams } {
    const { start } = this.#query;
    // Past records come first: if none have arrived, nothing was delivered.
    const isBack = start !== 'end' && this.#positions.size === 0 && !('back' in start && this.#wasQuiet);
    if (this.#beganMs === undefined || (this.#newestMs === undefined && isBack))
      return { query: this.#encode(this.#query) };
    const query = this.#encode({ ...this.#query, start: 'end' });
    const positions = this.#encodedPositions();
    if (positions !== undefined) query.set('positions', positions);
    query.set('time', positions === undefined ? this.#since(nowMs) : this.#sinceBegan(nowMs));
    return { query };
  }

  #positionOf(node: string): LogPositions {
    const position = this.#positions.get(node) ?? new LogPositions();
    this.#positions.set(node, position);
    if (this.#positions.size > MAX_MEMBERS) this.#positions.delete(this.#positions.keys().next().value ?? '');
    return position;
  }

  #encodedPositions(): string | undefined {
    if (this.#positions.size === 0) return undefined;
    const members = Array.from(this.#positions, ([id, position]) => [id, joinCursors(position.cursors())] as const);
    const text = encodeFollowPositions(new Map(members));
    return text.length > this.#maxCharacters ? undefined : text;
  }

  #since(nowMs: number): string {
    if (this.#newestMs !== undefined) return String(Math.ceil(this.#newestMs) - MARGIN_MS);
    return this.#sinceBegan(nowMs);
  }

  /** For members without records so far. Relative, because the clock of the node may differ. */
  #sinceBegan(nowMs: number): string {
    const { start } = this.#query;
    const sinceMs = start === 'end' ? undefined : 'timeMs' in start ? start.timeMs : 'cursor' in start && start.sinceMs;
    if (typeof sinceMs === 'number') return this.#encode({ start: { timeMs: sinceMs } }).get('time') ?? '';
    return `${Math.max(0, Math.round(nowMs - (this.#beganMs ?? nowMs))) + MARGIN_MS}ms`;
  }

  /** An unfinished line is delivered again, complete. */
  #isNew(key: string, unfinished = false): boolean {
    if (this.#delivered.has(key) || this.#deliveredBefore.has(key)) return false;
    if (unfinished) return true;
    this.#delivered.add(key);
    // All at once: repeatedly deleting the first element of a set becomes slow.
    if (this.#delivered.size >= MAX_REMEMBERED) [this.#deliveredBefore, this.#delivered] = [this.#delivered, new Set()];
    return true;
  }
}
