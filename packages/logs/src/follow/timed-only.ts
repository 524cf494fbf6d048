import type { FollowItem, FoundRecord } from '../types.ts';

/** Records buffered before the first timestamp of a new file: a banner, the start of a dump. */
const MAX_HELD = 200;

/**
 * Leaves logs without timestamps out of a follow of all logs, as a search of all logs does. A new log takes part from
 * its first timestamp on; the records before it are buffered and emitted then.
 */
export class TimedOnly {
  #isTimed: boolean;
  #held: FoundRecord[] = [];

  constructor(isTimed: boolean) {
    this.#isTimed = isTimed;
  }

  get isTimed(): boolean {
    return this.#isTimed;
  }

  take(items: FollowItem[]): FollowItem[] {
    if (this.#isTimed) return items;
    const first = items.findIndex((item) => item.type === 'record' && item.timeMs !== undefined);
    if (first >= 0) {
      this.#isTimed = true;
      return [...this.#held.splice(0), ...items];
    }
    const records = items.filter((item) => item.type === 'record');
    this.#held = [...this.#held, ...records].slice(0, MAX_HELD);
    return [];
  }
}
