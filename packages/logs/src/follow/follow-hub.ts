import { refuseUndecoded } from '../file/compression.ts';
import { sourceNotFound } from '../file/families.ts';
import type { HandleCache } from '../file/handle-cache.ts';
import type { SharedReads } from '../file/shared-reads.ts';
import { LogError, systemCode } from '../log-error.ts';
import type { FormatSet } from '../parse/detect-format.ts';
import type { Zone } from '../parse/zone.ts';
import { formatLogSource, LogSources } from '../query/log-sources.ts';
import { isPattern } from '../query/match-pattern.ts';
import type { SeenFile } from '../read/list.ts';
import type { Scrubbing } from '../scrub/scrubber.ts';
import type { FollowItem, FollowQuery, FollowReadOptions } from '../types.ts';
import { FollowSession, type SessionDeps } from './follow-session.ts';
import { Permits, type Search } from './history/search-history.ts';
import type { FollowLimit } from './lazy-follow-hub.ts';
import { type MatchRegex, SharedFilter } from './shared-filter.ts';
import { DirWatch } from './tail/dir-watch.ts';
import {
  groupLogs,
  groupMembers,
  isFollowed,
  isNamed,
  type SeenMember,
  type TailDeps,
  type TailTarget,
} from './tail/family-files.ts';
import { TailRegistry } from './tail/tail-registry.ts';

/** fs.watch reports nothing on network file systems, so files are polled this often. */
const POLL_MS = 250;

/** Text buffered per log for slow followers: about a second of a writer far busier than anyone can read along. */
const BUFFER_BYTES = 4 * 1024 * 1024;

/** Text buffered for all logs together: following hundreds of logs must stay far below 64 MiB, decoded copies included. */
const TOTAL_BUFFER_BYTES = 12 * 1024 * 1024;

/** The same while records are only counted, which never ends. */
const COUNT_BUFFER_BYTES = 4 * 1024 * 1024;

/** Polls between two listings of the directory, for new logs that no event reported. */
const LIST_POLLS = 4;

/** A rotation changes many names in a row: one listing covers them all. */
const LIST_DELAY_MS = 50;

/** The next listing waits this many times as long as the last one took: large directories are slow to list. */
const LIST_REST = 10;

/** Histories searched in parallel by all follows together, in addition to one per follow. */
const PARALLEL_HISTORIES = 8;

export interface FollowHubDeps {
  dir: string;
  handles: HandleCache;
  reads: SharedReads;
  zone: Zone;
  formats?: FormatSet;
  /** Nothing is masked without it. */
  scrubbing?: Scrubbing;
  /** Lists all files, or at least those of one log. */
  list(family?: string): Promise<SeenFile[]>;
  /** Whether a listing of all files would have the same ones again, of whatever sizes. */
  isCurrent(files: readonly SeenFile[]): boolean;
  /** Searches what the files already contain. */
  search: Search;
  /** Whether any file of the log has timestamps near its start. */
  isTimed(target: TailTarget, files: readonly string[]): Promise<boolean>;
  /** Whether its live file is not binary. */
  isText(target: TailTarget): Promise<boolean>;
  /** Runs in a worker thread: a user's regex never runs on the main thread. */
  matchRegex: MatchRegex;
  pollMs?: number;
  bufferBytes?: number;
  /** `false` behaves like a file system that reports no changes: polling only. */
  events?: boolean;
  times?: TailDeps['times'];
  /** The time, from any start. */
  now?: () => number;
  /** How many logs may be followed at the same time. */
  limit: FollowLimit;
}

export interface CountingOptions extends FollowReadOptions {
  /** Emits `CountedRecords`, too, and reads a few times a second instead of at every write. */
  counts?: boolean | undefined;
}

export interface FollowUsage {
  /** Logs being read. */
  readers: number;
  watchers: number;
  openFiles: number;
}

/** Follows the logs of a directory with one reader per log, however many clients follow it. */
export class FollowHub {
  readonly #deps: FollowHubDeps;
  readonly #tails: TailRegistry;
  readonly #watch: DirWatch;
  readonly #sessions = new Set<FollowSession>();
  readonly #permits = new Permits(PARALLEL_HISTORIES);
  readonly #filters = new Map<string, WeakRef<SharedFilter>>();
  #seen: { version: number; targets: readonly TailTarget[] } = { version: 0, targets: [] };
  /** The files of all logs as of the last listing, which all followed logs share. */
  #members: ReadonlyMap<string, readonly SeenMember[]> = new Map();
  #listed: readonly SeenFile[] = [];
  #listDelayMs = LIST_DELAY_MS;
  #listTimer: NodeJS.Timeout | undefined;
  #pollsToList = LIST_POLLS;
  #pollsToRead = 1;
  #reads = 0;
  #closed = false;

  constructor(deps: FollowHubDeps) {
    const { dir, handles, reads, zone, pollMs = POLL_MS, bufferBytes = BUFFER_BYTES, events = true, times = {} } = deps;
    this.#deps = deps;
    this.#tails = new TailRegistry({
      handles,
      reads,
      zone,
      ...(deps.formats && { formats: deps.formats }),
      times,
      scrubber: () => deps.scrubbing?.current,
      list: (family) => deps.list(family),
      maxLogs: deps.limit.most,
      limitBytes: () => {
        const total = this.#onlyCounts ? COUNT_BUFFER_BYTES : TOTAL_BUFFER_BYTES;
        return Math.min(bufferBytes, total / Math.max(1, this.#tails.size));
      },
      onRead: () => {
        this.#reads++;
      },
      onEmpty: () => this.#stopIfIdle(),
    });
    deps.scrubbing?.onChange((scrubber) => this.#tails.rescrub(scrubber));
    const onPoll = () => this.#onPoll();
    this.#watch = new DirWatch({
      dir,
      pollMs,
      events: () => events && this.#polls === 0,
      onPoll,
      onEvent: (name, entries) => this.#onEvent(name, entries),
      keepsAlive: () => !this.#onlyCounts,
    });
  }

  get usage(): FollowUsage {
    return { readers: this.#tails.size, watchers: this.#watch.watchers, openFiles: this.#tails.openFiles };
  }

  /** Reads of log text so far: one per append, however many clients follow. */
  get reads(): number {
    return this.#reads;
  }

  /**
   * Emits batches; the first one is empty and means that the query was accepted. Ends with an `end` item when the signal
   * aborts or the hub is closed. Consumers pull: one that is too slow gets a gap item and costs no memory.
   */
  async *follow(
    query: FollowQuery,
    { signal, client, positions, counts, texts }: CountingOptions = {},
  ): AsyncGenerator<FollowItem[], void, undefined> {
    const session = new FollowSession(query, this.#sessionDeps(client), {
      ...(positions && { positions }),
      ...(counts && { counts }),
      ...(texts && { texts }),
    });
    const onAbort = () => {
      session.end('cancelled');
      this.#stopIfIdle();
    };
    signal?.addEventListener('abort', onAbort);
    this.#sessions.add(session);
    this.#watch.keepAlive();
    if (signal?.aborted) onAbort();
    if (this.#closed) session.end('stopping');
    try {
      // Only those who count get items of the other type, and know it.
      yield* session.items() as AsyncGenerator<FollowItem[], void, undefined>;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      session.end('cancelled');
      this.#sessions.delete(session);
      this.#watch.keepAlive();
      this.#stopIfIdle();
    }
  }

  /** Ends every follow. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const session of this.#sessions) session.end('stopping');
    await this.#tails.close();
    this.#stopIfIdle();
  }

  #sessionDeps(client: string | undefined): SessionDeps {
    const { search, matchRegex, isTimed, isText, now = () => performance.now() } = this.#deps;
    return {
      now,
      limit: this.#deps.limit,
      isUnhurried: () => this.#polls > 0,
      isTimed: (target) =>
        isTimed(
          target,
          (this.#members.get(target.family ?? '') ?? []).map(({ name }) => name),
        ),
      isText,
      search: (query, options) => search(query, { ...options, client }),
      matchRegex: (filter, texts, options) => matchRegex(filter, texts, { ...options, client }),
      permits: this.#permits,
      findTargets: async (query) => {
        const logs = new LogSources(query.src);
        const { targets, missing } = await this.#findTargets(logs);
        // In the same turn as the end of the listing: what is written from now on belongs to the follow.
        const listing = this.#members;
        const release = logs.only ? () => {} : this.#tails.expect(targets, listing);
        return { targets, missing, listing, positions: this.#tails.positions(), release };
      },
      seen: () => this.#seen,
      acquireTail: async (target, { fromStart, isListed, listing = this.#members }) => {
        const members = isListed ? listing.get(target.family ?? target.name) : undefined;
        const tail = await this.#tails.acquire(target, { fromStart, members, isOptional: isListed });
        if (!this.#closed) await this.#watch.start();
        return tail;
      },
      releaseTail: (tail) => this.#tails.release(tail),
      filterFor: (filter) => this.#filterFor(filter),
    };
  }

  async #findTargets(logs: LogSources): Promise<{ targets: TailTarget[]; missing: string[] }> {
    const { only } = logs;
    if (only) {
      const target = await (only.kind === 'file' ? this.#fileTarget(only.name) : this.#familyTarget(only.name));
      return { targets: [target], missing: [] };
    }
    // Before the listing: in a directory without logs no tail starts the watch, and the first log may appear at any time.
    if (!this.#closed) await this.#watch.start();
    const listed = await this.#listAll();
    if (logs.isAll) return { targets: listed, missing: [] };
    const targets = listed.filter((target) => isFollowed(target, logs));
    for (const target of targets) if (isNamed(target, logs)) await refuseUnfollowable(target, this.#deps.handles);
    const families = listed.map(({ name, family = name }) => family);
    const missing: string[] = [];
    let failure: unknown;
    for (const source of logs.list) {
      const { node, kind, name } = source;
      if (listed.some((target) => isFollowed(target, new LogSources([formatLogSource(source)])))) continue;
      try {
        if (node !== '' || kind === 'family' || isPattern(name)) throw sourceNotFound(source, families);
        targets.push(await this.#fileTarget(name));
      } catch (error) {
        if (!(error instanceof LogError) || !NOT_FOUND.has(error.code)) throw error;
        failure ??= error;
        missing.push(name);
      }
    }
    if (targets.length === 0) throw failure;
    return { targets, missing };
  }

  async #familyTarget(family: string): Promise<TailTarget> {
    // Twice: its only file may be renamed between the listing of the names and that of the files.
    let targets: TailTarget[] = [];
    let found: TailTarget | undefined;
    for (let attempt = 1; !found && attempt <= 2; attempt++) {
      targets = toTargets(await groupMembers(await this.#deps.list(family)));
      found = targets.find((target) => target.family === family) ?? this.#tails.findTarget({ name: family, family });
    }
    const families = targets.flatMap((target) => target.family ?? []);
    if (!found) throw sourceNotFound({ node: '', kind: 'family', name: family }, families);
    await refuseUnfollowable(found, this.#deps.handles);
    return found;
  }

  async #fileTarget(name: string): Promise<TailTarget> {
    const known = this.#tails.findTarget({ name, family: name }) ?? this.#tails.findTarget({ name, family: undefined });
    if (known?.name === name) return known;
    await refuseUnfollowable({ name, family: undefined }, this.#deps.handles);
    const targets = toTargets(await groupMembers(await this.#deps.list(name)));
    return targets.find((target) => target.family === name) ?? { name, family: undefined };
  }

  /** Every log; if there are too many to follow, the most recently written ones come first. */
  async #listAll(): Promise<TailTarget[]> {
    const { targets, members } = await this.#list();
    if (targets.length <= this.#deps.limit.most) return targets;
    const modifiedMs = ({ name, family }: TailTarget) =>
      Number((members.get(family ?? name) ?? []).find((member) => member.name === name)?.modifiedNs ?? 0n) / 1e6;
    const dated = targets.map((target) => ({ target, timeMs: modifiedMs(target) }));
    return dated.sort((a, b) => b.timeMs - a.timeMs).map(({ target }) => target);
  }

  #filterFor(filter: Parameters<SessionDeps['filterFor']>[0]): SharedFilter {
    const key = JSON.stringify(filter);
    const known = this.#filters.get(key)?.deref();
    if (known) return known;
    for (const [other, reference] of this.#filters) if (!reference.deref()) this.#filters.delete(other);
    const { matchRegex } = this.#deps;
    const made = new SharedFilter(filter, (...args) => matchRegex(...args));
    this.#filters.set(key, new WeakRef(made));
    return made;
  }

  /** At how many polls it is enough to read the logs, and to list them as much less often; 0: they are read at once. */
  get #polls(): number {
    // Each log asks this for each of its records.
    let least = Infinity;
    for (const session of this.#sessions) if (!session.isEnded && session.polls < least) least = session.polls;
    return Number.isFinite(least) ? least : 0;
  }

  /** Whether records are only counted, which never ends. */
  get #onlyCounts(): boolean {
    return this.#polls > 1;
  }

  #onEvent(name: string | undefined, entries: boolean): void {
    this.#tails.wake(name, { entries });
    if (entries) this.#listSoon();
  }

  #onPoll(): void {
    if (--this.#pollsToRead <= 0 || this.#polls <= 1) {
      this.#pollsToRead = this.#polls;
      this.#tails.poll();
    }
    if (--this.#pollsToList <= 0) this.#listSoon();
  }

  /** Only if new names matter: to follows of all logs, and to logs whose live file changes its name. */
  #listSoon(): void {
    const matters = this.#tails.hasMovingNames || [...this.#sessions].some(({ followsNew }) => followsNew);
    if (!matters || this.#closed) return;
    this.#listTimer ??= setTimeout(() => void this.#relist(), this.#listDelayMs);
  }

  async #relist(): Promise<void> {
    const slower = Math.max(1, this.#polls);
    this.#pollsToList = LIST_POLLS * slower;
    const startedMs = performance.now();
    try {
      // Listing thousands of files takes as long as reading what most of them get, and leaves as much garbage.
      if (this.#deps.isCurrent(this.#listed)) this.#tails.rename(this.#seen.targets);
      else await this.#list();
    } catch (error) {
      // The next poll lists it again.
      if (!(error instanceof LogError) && systemCode(error) === undefined) throw error;
    } finally {
      this.#listTimer = undefined;
      this.#listDelayMs = Math.max(LIST_DELAY_MS, (performance.now() - startedMs) * LIST_REST * slower);
    }
  }

  async #list() {
    const listed = await this.#deps.list();
    const members = await groupLogs(listed);
    const targets = toTargets(members);
    this.#listed = listed;
    this.#members = members;
    this.#tails.rename(targets);
    if (JSON.stringify(targets) !== JSON.stringify(this.#seen.targets)) {
      this.#seen = { version: this.#seen.version + 1, targets };
      for (const session of this.#sessions) if (session.followsNew) session.changed.notify();
    }
    return { targets, members };
  }

  /** Stops watching when no log is being read and no follow waits for new ones. */
  #stopIfIdle(): void {
    const isWaiting = [...this.#sessions].some(({ followsNew, isEnded }) => followsNew && !isEnded);
    if (this.#tails.size > 0 || (isWaiting && !this.#closed)) return;
    clearTimeout(this.#listTimer);
    this.#listTimer = undefined;
    this.#watch.stop();
  }
}

/** A follow of several is only ended by what is not: a log that appears later is followed then. */
const NOT_FOUND: ReadonlySet<string> = new Set(['LOG_FAMILY_NOT_FOUND', 'LOG_FILE_NOT_FOUND']);

/** The family of every log in the directory, with the name of its live file. */
function toTargets(families: ReadonlyMap<string, readonly SeenMember[]>): TailTarget[] {
  return Array.from(families, ([family, members]) => {
    const live = members.find((member) => member.name === family) ?? members.findLast((member) => member.live);
    return { name: live?.name ?? family, family };
  });
}

/**
 * Throws for a file whose bytes are not text, and for one that does not exist, unless it is the live file of a family,
 * which may appear. A file that is unreadable now may become readable: the tail waits for it.
 */
async function refuseUnfollowable({ name, family }: TailTarget, handles: HandleCache): Promise<void> {
  try {
    await refuseUndecodedText(name, handles);
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    const isLater = family === undefined ? error.code === 'LOG_FILE_UNREADABLE' : error.code !== 'LOG_FILE_UNSUPPORTED';
    if (!isLater) throw error;
  }
}

async function refuseUndecodedText(name: string, handles: HandleCache): Promise<void> {
  const handle = await handles.acquire(name);
  try {
    refuseUndecoded(handle);
  } finally {
    handle.release();
  }
}
