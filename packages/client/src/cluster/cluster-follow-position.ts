import {
  type ClusterFollowItem,
  type ClusterRecord,
  decodeFollowPositions,
  encodeClusterFollow,
  encodeFollowPositions,
  MAX_BODY_BYTES,
  type MemberSelection,
} from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs/types';
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

/** Files per member whose position is remembered; each log has one live file. */
const MAX_FILES = 2048;

interface MemberPosition {
  /** Where all its logs stood. */
  base: string | undefined;
  /** The last cursor of each file since then. */
  readonly files: Map<string, string>;
}

/**
 * The position of a cluster follow. It resumes after the last record of each log of each member, independent of their clocks;
 * by time if the cluster is too large for that. Records already delivered are dropped.
 */
export class ClusterFollowPosition implements FollowPosition<ClusterFollowItem> {
  readonly #query: FollowQuery & MemberSelection;
  readonly #clock: Clock;
  /** The most recently delivered records, and those before them. */
  #delivered = new Set<string>();
  #deliveredBefore = new Set<string>();
  readonly #positions = new Map<string, MemberPosition>();
  #beganMs: number | undefined;
  #newestMs: number | undefined;
  #wasQuiet = false;
  #maxCharacters = POSITIONS_CHARACTERS;

  constructor(query: FollowQuery & MemberSelection, clock: Clock) {
    this.#query = query;
    this.#clock = clock;
    const { start } = query;
    const asked = start !== 'end' && 'cursor' in start ? decodeFollowPositions(start.cursor) : [];
    for (const [id, base] of asked) this.#positions.set(id, { base, files: new Map() });
  }

  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  track(items: ClusterFollowItem[], { heartbeat }: { heartbeat: boolean }): ClusterFollowItem[] {
    this.#wasQuiet ||= heartbeat;
    const nowMs = this.#clock.now();
    return items.filter((item) => {
      if (item.type === 'position') this.#position(item.node, { base: item.cursor, files: new Map() });
      if (item.type !== 'record') return true;
      // A timestamp in the future would skip everything written until then.
      const atMs = Math.min(item.atMs ?? -Infinity, nowMs);
      if (item.atMs !== undefined) this.#newestMs = Math.max(this.#newestMs ?? atMs, atMs);
      const isNew = this.#isNew(`${item.node} ${item.cursor}`, item.unfinished);
      if (isNew) this.#keepPosition(item);
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
      return { query: encodeClusterFollow(this.#query) };
    const query = encodeClusterFollow({ ...this.#query, start: 'end' });
    const positions = this.#encodedPositions();
    if (positions !== undefined) query.set('positions', positions);
    query.set('time', positions === undefined ? this.#since(nowMs) : this.#sinceBegan(nowMs));
    return { query };
  }

  #keepPosition({ node, file, cursor, unfinished }: ClusterRecord): void {
    // Resuming after an unfinished line would lose its rest: it is delivered again, complete.
    if (unfinished || cursor === '') return;
    const { files } = this.#positions.get(node) ?? this.#position(node, { base: undefined, files: new Map() });
    files.delete(file);
    files.set(file, cursor);
    const [oldest = file] = files.keys();
    if (files.size > MAX_FILES) files.delete(oldest);
  }

  #position(node: string, position: MemberPosition): MemberPosition {
    this.#positions.set(node, position);
    if (this.#positions.size > MAX_MEMBERS) this.#positions.delete(this.#positions.keys().next().value ?? '');
    return position;
  }

  #encodedPositions(): string | undefined {
    if (this.#positions.size === 0) return undefined;
    const members = new Map(
      Array.from(this.#positions, ([id, { base, files }]) => [
        id,
        [...(base === undefined ? [] : [base]), ...files.values()].join('~'),
      ]),
    );
    const text = encodeFollowPositions(members);
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
    if (typeof sinceMs === 'number') return encodeClusterFollow({ start: { timeMs: sinceMs } }).get('time') ?? '';
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
