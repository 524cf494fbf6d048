import { encodeFollow } from '@porthole/contract';
import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import type { FollowPosition } from './follow.ts';

/** What goes into a header, for nodes that take no parameters in a body. */
const SHORT_ID_CHARACTERS = 5 * 1024;

/**
 * A follow that was lost before a log told anything begins that log when the follow began, and a little before: what is
 * written then may bear an earlier time, and better a record too early than one lost.
 */
const MARGIN_MS = 1000;

/** The longest id of an event that is kept. */
const MAX_ID_CHARACTERS = 4096;

/** Files whose position is remembered, those with the newest records; a log has one that is written. */
const MAX_FILES = 2048;

/** Where a follow has come to, so that it goes on there: nothing lost, nothing twice. */
export class NodeFollowPosition implements FollowPosition<FollowItem> {
  readonly #query: FollowQuery;
  /** The newest event of each file, by its id, in the order in which they came. */
  readonly #delivered = new Map<string, string>();
  /** Of the newest record. */
  #newestMs: number | undefined;
  #isForgotten = false;
  #maxCharacters = Number.POSITIVE_INFINITY;
  #beganMs: number | undefined;
  #wasQuiet = false;

  constructor(query: FollowQuery) {
    this.#query = query;
  }

  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  track(items: FollowItem[], { heartbeat, ids }: Parameters<FollowPosition<FollowItem>['track']>[1]): FollowItem[] {
    this.#wasQuiet ||= heartbeat;
    for (const [index, item] of items.entries()) {
      // Behind an unfinished line its rest would be lost if the node has forgotten it: it is told once more, whole.
      if (item.type !== 'record' || item.unfinished) continue;
      this.#delivered.delete(item.file);
      this.#delivered.set(item.file, eventId(item, ids[index]));
      if (this.#delivered.size > MAX_FILES) this.#delivered.delete(this.#delivered.keys().next().value ?? '');
      if (item.timeMs !== undefined) this.#newestMs = Math.max(item.timeMs, this.#newestMs ?? item.timeMs);
    }
    return items;
  }

  shorten(): void {
    this.#maxCharacters = SHORT_ID_CHARACTERS;
  }

  forget(): FollowItem[] {
    this.#delivered.clear();
    this.#isForgotten = true;
    const family = this.#query.family ?? this.#query.file ?? '';
    return [{ type: 'gap', family, reason: 'gone', bytes: null, after: null, until: null }];
  }

  request(nowMs: number): { query: URLSearchParams; headers: Record<string, string> } {
    const { start } = this.#query;
    if (this.#beganMs === undefined) return { query: encodeFollow(this.#query), headers: {} };
    if (this.#isForgotten && this.#delivered.size === 0) return { query: this.#byTime(nowMs), headers: {} };
    const { id, isWhole } = this.#lastEventId();
    const headers: Record<string, string> = id === '' ? {} : { 'last-event-id': id };
    // What it goes back to comes first of all: where it has not come, nothing has been told.
    if (id === '' && start !== 'end' && (('back' in start && !this.#wasQuiet) || 'timeMs' in start))
      return { query: encodeFollow(this.#query), headers };
    const query = encodeFollow({ ...this.#query, start: 'end' });
    const since = this.#since(nowMs - this.#beganMs);
    if (isWhole) query.set('time', since);
    return { query, headers };
  }

  /** Without a position: with what is newer than the newest record. */
  #byTime(nowMs: number): URLSearchParams {
    const query = encodeFollow({ ...this.#query, start: 'end' });
    const isTimed = this.#newestMs !== undefined;
    query.set('time', isTimed ? String(this.#newestMs) : this.#since(nowMs - (this.#beganMs ?? nowMs)));
    return query;
  }

  /** Where logs begin of which nothing was told. As a time ago: the node's clock may be another one. */
  #since(elapsedMs: number): string {
    const { start } = this.#query;
    const sinceMs = start === 'end' ? undefined : 'timeMs' in start ? start.timeMs : 'cursor' in start && start.sinceMs;
    if (typeof sinceMs === 'number') return encodeFollow({ start: { timeMs: sinceMs } }).get('time') ?? '';
    return `${Math.max(0, Math.round(elapsedMs)) + MARGIN_MS}ms`;
  }

  /**
   * Where it came to in each log; the last one of a log counts. A node that takes no long ones gets the newest, as many as
   * fit: then it is not whole.
   */
  #lastEventId(): { id: string; isWhole: boolean } {
    const { start } = this.#query;
    const first = start !== 'end' && 'cursor' in start && !this.#isForgotten ? [start.cursor] : [];
    const cursors = [...first, ...this.#delivered.values()];
    let from = cursors.length;
    for (let left = this.#maxCharacters; from > 0; from--) {
      left -= (cursors[from - 1]?.length ?? 0) + 1;
      if (left < 0) break;
    }
    return { id: cursors.slice(from).join('~'), isWhole: from === 0 };
  }
}

/** The id of an event begins with the cursor of its record, and may name other logs after it; it is no longer than that. */
function eventId({ cursor }: { cursor: string }, id: string | undefined): string {
  return id === undefined || id.length > MAX_ID_CHARACTERS ? cursor : id;
}
