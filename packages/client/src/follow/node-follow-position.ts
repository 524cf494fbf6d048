import { encodeFollow, MAX_BODY_BYTES, parseLogSource } from '@porthole/contract';
import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import { joinCursors, LogPositions } from '@porthole/records';
import type { FollowPosition } from './follow.ts';

/** Maximum header length, for nodes that accept no parameters in a body. */
const SHORT_ID_CHARACTERS = 5 * 1024;

/** Maximum length otherwise; the rest of the body is for the other parameters. */
const LONG_ID_CHARACTERS = MAX_BODY_BYTES - 64 * 1024;

/**
 * Where a node does not say where its logs stand, a log without records so far resumes at the start of the follow, minus this margin: its records may have earlier timestamps,
 * and better one too many than one lost.
 */
const MARGIN_MS = 1000;

/** Maximum length of a remembered event id. */
const MAX_ID_CHARACTERS = 4096;

/** The position of a follow, to resume without losing or repeating records. */
export class NodeFollowPosition implements FollowPosition<FollowItem> {
  readonly #query: FollowQuery;
  readonly #encode: typeof encodeFollow;
  /** By event ids, which have more than the cursors of records. */
  readonly #positions = new LogPositions();
  /** Time of the newest record. */
  #newestMs: number | undefined;
  #isForgotten = false;
  #maxCharacters = LONG_ID_CHARACTERS;
  #beganMs: number | undefined;
  #wasQuiet = false;

  constructor(query: FollowQuery, encode = encodeFollow) {
    this.#query = query;
    this.#encode = encode;
  }

  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  track(items: FollowItem[], { heartbeat, ids }: Parameters<FollowPosition<FollowItem>['track']>[1]): FollowItem[] {
    this.#wasQuiet ||= heartbeat;
    for (const [index, item] of items.entries()) {
      if (item.type === 'position') this.#positions.locate(item.cursor);
      if (item.type === 'text') this.#positions.track(item);
      if (item.type !== 'record' || item.unfinished) continue;
      this.#positions.track({ file: item.file, cursor: eventId(item, ids[index]) });
      if (item.timeMs !== undefined) this.#newestMs = Math.max(item.timeMs, this.#newestMs ?? item.timeMs);
    }
    return items;
  }

  shorten(): void {
    this.#maxCharacters = SHORT_ID_CHARACTERS;
  }

  forget(): FollowItem[] {
    this.#positions.forget();
    this.#isForgotten = true;
    const [source] = this.#query.src ?? [];
    const family = source === undefined ? '' : parseLogSource(source).name;
    return [{ type: 'gap', family, reason: 'gone', bytes: null, after: null, until: null }];
  }

  request(nowMs: number): { query: URLSearchParams; headers: Record<string, string> } {
    const { start } = this.#query;
    if (this.#beganMs === undefined) return { query: this.#encode(this.#query), headers: {} };
    if (this.#isForgotten && !this.#positions.isKnown) return { query: this.#byTime(nowMs), headers: {} };
    const { id, isWhole } = this.#lastEventId();
    const headers: Record<string, string> = id === '' ? {} : { 'last-event-id': id };
    // Past records come first: if none have arrived, nothing was delivered.
    if (id === '' && start !== 'end' && (('back' in start && !this.#wasQuiet) || 'timeMs' in start))
      return { query: this.#encode(this.#query), headers };
    const query = this.#encode({ ...this.#query, start: 'end' });
    const since = this.#since(nowMs - this.#beganMs);
    if (isWhole) query.set('time', since);
    return { query, headers };
  }

  /** Without a position: resumes after the time of the newest record. */
  #byTime(nowMs: number): URLSearchParams {
    const query = this.#encode({ ...this.#query, start: 'end' });
    const isTimed = this.#newestMs !== undefined;
    query.set('time', isTimed ? String(this.#newestMs) : this.#since(nowMs - (this.#beganMs ?? nowMs)));
    return query;
  }

  /** The start of logs without records so far. Relative, because the clock of the node may differ. */
  #since(elapsedMs: number): string {
    const { start } = this.#query;
    const sinceMs = start === 'end' ? undefined : 'timeMs' in start ? start.timeMs : 'cursor' in start && start.sinceMs;
    if (typeof sinceMs === 'number') return this.#encode({ start: { timeMs: sinceMs } }).get('time') ?? '';
    return `${Math.max(0, Math.round(elapsedMs)) + MARGIN_MS}ms`;
  }

  /**
   * The position in each log. A node that accepts no long ones gets the newest that fit, which is
   * then incomplete.
   */
  #lastEventId(): { id: string; isWhole: boolean } {
    const { start } = this.#query;
    const asked = start !== 'end' && 'cursor' in start && !this.#isForgotten ? start.cursor : undefined;
    const cursors = this.#positions.cursors(asked);
    let from = cursors.length;
    for (let left = this.#maxCharacters; from > 0; from--) {
      left -= (cursors[from - 1]?.length ?? 0) + 1;
      if (left < 0) break;
    }
    return { id: joinCursors(cursors.slice(from)), isWhole: from === 0 };
  }
}

/** An event id starts with the cursor of its record and may contain other logs after it. */
function eventId({ cursor }: { cursor: string }, id: string | undefined): string {
  return id === undefined || id.length > MAX_ID_CHARACTERS ? cursor : id;
}
