import { setImmediate } from 'node:timers/promises';
import type { HandleCache, LogHandle } from '../../file/handle-cache.ts';
import { undefinedIfUnreadable } from '../../log-error.ts';

/** The state of a tail: what it knows of the live file of its log. */
export type TailState =
  /** Nothing was opened yet. */
  | 'starting'
  /** The log has had no readable file so far. */
  | 'waiting'
  /** The name belongs to the open file. */
  | 'reading'
  /** The name is missing or unreadable, as in every rotation for a moment. The last file is still open. */
  | 'missing'
  /** The same for so long that the followers were informed. */
  | 'reported'
  /** The same for so long that the descriptor of the last file was released, too. */
  | 'released'
  /** A defect ended the reading; the followers get its error. */
  | 'failed'
  | 'stopped';

export type TailEvent =
  /** A poll found the file read so far under the name. */
  | 'same-file'
  /** A poll found another file under the name. */
  | 'other-file'
  /** A poll found no readable file. */
  | 'unreadable'
  /** The same, for as long as is reported. */
  | 'unreadable-long'
  /** The same, for as long as a descriptor is held. */
  | 'unreadable-very-long'
  /** A read found that the file was truncated. */
  | 'truncated'
  /** An error that is no failure of a file or directory. */
  | 'defect'
  | 'stop';

export type TailAction =
  /** Opens the first file at the position where the follow starts. */
  | 'open-first'
  /** Opens a file that was created after the start, from its beginning. */
  | 'open-created'
  /** Emits the rest of the old file and the files in between, and opens the new one. */
  | 'replace'
  /** Continues the last file with a new descriptor. */
  | 'reopen'
  /** Reads the open file to its end. */
  | 'drain'
  | 'report-missing'
  | 'release'
  /** Emits what a copy of the old text has, and starts again with the new text. */
  | 'restart'
  | 'poll-again'
  /** Passes the error to the followers. */
  | 'fail';

interface Transition {
  /** The state once the actions have succeeded. If one of them fails, the state does not change. */
  next: TailState;
  actions: readonly TailAction[];
}

/** Why an event cannot occur in a state. */
interface Unreachable {
  unreachable: string;
}

const FAIL = to('failed', 'fail');
const STOP = to('stopped');
const IGNORE = to('stopped');
const NO_FILE = never('there is no file it could be the same as');
const NO_READ = never('only the state reading reads');
const NO_CLOCK = never('a file that was never read is not reported as missing');
const GROWS = never('the time it has been missing only grows');
const ENDED = never('a failed tail is not polled');

/** What happens to a tail. Every state has an entry for every event. */
export const TRANSITIONS: Readonly<Record<TailState, Readonly<Record<TailEvent, Transition | Unreachable>>>> = {
  starting: {
    'same-file': NO_FILE,
    'other-file': to('reading', 'open-first'),
    unreadable: to('waiting'),
    'unreadable-long': NO_CLOCK,
    'unreadable-very-long': NO_CLOCK,
    truncated: NO_READ,
    defect: FAIL,
    stop: STOP,
  },
  waiting: {
    'same-file': NO_FILE,
    'other-file': to('reading', 'open-created'),
    unreadable: to('waiting'),
    'unreadable-long': NO_CLOCK,
    'unreadable-very-long': NO_CLOCK,
    truncated: NO_READ,
    defect: FAIL,
    stop: STOP,
  },
  reading: {
    'same-file': to('reading'),
    'other-file': to('reading', 'replace'),
    unreadable: to('missing', 'drain'),
    // The times may be configured as 0.
    'unreadable-long': to('reported', 'drain', 'report-missing'),
    'unreadable-very-long': to('released', 'drain', 'report-missing', 'release'),
    truncated: to('reading', 'restart', 'poll-again'),
    defect: FAIL,
    stop: STOP,
  },
  missing: {
    'same-file': to('reading'),
    'other-file': to('reading', 'replace'),
    unreadable: to('missing', 'drain'),
    'unreadable-long': to('reported', 'drain', 'report-missing'),
    'unreadable-very-long': to('released', 'drain', 'report-missing', 'release'),
    truncated: NO_READ,
    defect: FAIL,
    stop: STOP,
  },
  reported: {
    'same-file': to('reading'),
    'other-file': to('reading', 'replace'),
    unreadable: GROWS,
    'unreadable-long': to('reported', 'drain'),
    'unreadable-very-long': to('released', 'drain', 'release'),
    truncated: NO_READ,
    defect: FAIL,
    stop: STOP,
  },
  released: {
    'same-file': to('reading', 'reopen'),
    'other-file': to('reading', 'replace'),
    unreadable: GROWS,
    'unreadable-long': GROWS,
    'unreadable-very-long': to('released'),
    truncated: NO_READ,
    defect: FAIL,
    stop: STOP,
  },
  failed: {
    'same-file': ENDED,
    'other-file': ENDED,
    unreadable: ENDED,
    'unreadable-long': ENDED,
    'unreadable-very-long': ENDED,
    truncated: ENDED,
    defect: ENDED,
    stop: STOP,
  },
  // A poll in progress may still find something after the stop.
  stopped: {
    'same-file': IGNORE,
    'other-file': IGNORE,
    unreadable: IGNORE,
    'unreadable-long': IGNORE,
    'unreadable-very-long': IGNORE,
    truncated: IGNORE,
    defect: IGNORE,
    stop: IGNORE,
  },
};

export function transition(state: TailState, event: TailEvent): Transition {
  const entry = TRANSITIONS[state][event];
  if ('unreachable' in entry) throw new TypeError(`a tail in state ${state} got ${event}: ${entry.unreachable}`);
  return entry;
}

/** A rotation by rename leaves the name missing for a moment; it is reported only if it stays missing. */
const MISSING_MS = 500;

interface MissingTimes {
  /** A name that has been missing for so long is reported. */
  missingMs?: number | undefined;
  /** A file that has been missing for so long is closed, once it was reported. */
  lingerMs: number;
}

/** The event for a poll that found no readable file, `forMs` after the first such poll in a row. */
export function unreadableEvent(
  state: TailState,
  forMs: number,
  { missingMs = MISSING_MS, lingerMs }: MissingTimes,
): TailEvent {
  if (state === 'starting' || state === 'waiting' || forMs < missingMs) return 'unreadable';
  return forMs < lingerMs ? 'unreadable-long' : 'unreadable-very-long';
}

function to(next: TailState, ...actions: TailAction[]): Transition {
  return { next, actions };
}

function never(unreachable: string): Unreachable {
  return { unreachable };
}

/** The file that the name leads to, and how often the name got another file up to this one. */
export interface FoundFile {
  handle: LogHandle;
  replacements: number;
}

/** Events of the file system come this late at most. */
const LATE_MS = 1000;

/**
 * How often the name got another file, by the events of the file system. Each replacement causes two events, or one if it
 * is atomic: more of them mean that files came and went between two polls. The events may come after the new file was
 * found.
 */
export class ReplacementCount {
  #events = 0;
  #followed = 0;
  #followedMs = 0;

  noteEvent(): void {
    this.#events++;
  }

  /** So far. The name has a file when it is read, so an odd event means that the second one of its pair is still to come. */
  get count(): number {
    return Math.ceil(this.#events / 2);
  }

  /**
   * Those up to this file, which the name had a moment ago; `undefined` if it has another one by now, and it is not known
   * which events belong to that.
   */
  async countUpTo({ name, dev, ino }: LogHandle, handles: HandleCache): Promise<number | undefined> {
    // Events of what happened to the name before may still be queued: after two turns they have been delivered.
    await setImmediate();
    await setImmediate();
    const { count } = this;
    const now = await handles.acquire(name).catch(undefinedIfUnreadable);
    now?.release();
    return now?.dev === dev && now.ino === ino ? count : undefined;
  }

  /** Those up to `count` that were not followed yet. */
  unfollowed(count: number): number {
    return count - this.#followed;
  }

  /** So many files were found; others up to `count` were reported as missing. */
  follow(files: number, count: number): void {
    this.#followed = Math.max(this.#followed + files, count);
    this.#followedMs = performance.now();
  }

  /** The name still has the file that was found last, and there were `count` replacements before. */
  settle(count: number): void {
    if (performance.now() - this.#followedMs > LATE_MS) this.#followed = count;
  }
}
