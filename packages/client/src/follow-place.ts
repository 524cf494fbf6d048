import { encodeFollow } from '@porthole/contract';
import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import type { Place } from './follow.ts';

/** Half of what a node takes for all headers. One cursor has about 60 characters. */
const MAX_ID_CHARACTERS = 8 * 1024;

/**
 * A follow that was lost before a log told anything begins that log when the follow began, and a little before: what is
 * written then may bear an earlier time, and better a record too early than one lost.
 */
const MARGIN_MS = 1000;

/** Where a follow has come to, so that it goes on there: nothing lost, nothing twice. */
export class FollowPlace implements Place<FollowItem> {
  readonly #query: FollowQuery;
  /** The newest cursor of each file, in the order in which they were told. */
  readonly #told = new Map<string, string>();
  #beganMs: number | undefined;
  #wasQuiet = false;

  constructor(query: FollowQuery) {
    this.#query = query;
  }

  began(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  note(items: FollowItem[], { heartbeat }: { heartbeat: boolean }): FollowItem[] {
    this.#wasQuiet ||= heartbeat;
    for (const item of items) {
      // Behind an unfinished line its rest would be lost if the node has forgotten it: it is told once more, whole.
      if (item.type !== 'record' || item.unfinished) continue;
      this.#told.delete(item.file);
      this.#told.set(item.file, item.cursor);
    }
    return items;
  }

  question(nowMs: number): { query: URLSearchParams; headers: Record<string, string> } {
    const { start } = this.#query;
    if (this.#beganMs === undefined) return { query: encodeFollow(this.#query), headers: {} };
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

  /** Where logs begin of which nothing was told. As a time ago: the node's clock may be another one. */
  #since(elapsedMs: number): string {
    const { start } = this.#query;
    const sinceMs = start === 'end' ? undefined : 'timeMs' in start ? start.timeMs : 'cursor' in start && start.sinceMs;
    if (typeof sinceMs === 'number') return encodeFollow({ start: { timeMs: sinceMs } }).get('time') ?? '';
    return `${Math.max(0, Math.round(elapsedMs)) + MARGIN_MS}ms`;
  }

  /** The newest cursors, as many as fit; the last one of a log counts. Not whole where older ones had to be left out. */
  #lastEventId(): { id: string; isWhole: boolean } {
    const { start } = this.#query;
    const first = start !== 'end' && 'cursor' in start ? [start.cursor] : [];
    const cursors = [...first, ...this.#told.values()];
    let from = cursors.length;
    for (let left = MAX_ID_CHARACTERS; from > 0; from--) {
      left -= (cursors[from - 1]?.length ?? 0) + 1;
      if (left < 0) break;
    }
    return { id: cursors.slice(from).join('~'), isWhole: from === 0 };
  }
}
