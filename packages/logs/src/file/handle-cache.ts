import type { BigIntStats } from 'node:fs';
import { closeFd } from '../fs-calls.ts';
import { LogError, systemCode, unreadable } from '../log-error.ts';
import { unneeded } from '../shared.ts';
import { EntryStats } from './entry-stats.ts';
import { assertSafeName, type FoundEntry, findEntry, findEntryNow, notALog, openInside } from './open-inside.ts';
import { GatheredLookup, SharedLookup } from './shared-lookup.ts';
import { FLAT, findMount, type LogTree, locate } from './tree.ts';

/** An open, verified regular file of the log directory. Its size when it was opened is its end. */
export interface LogHandle {
  readonly name: string;
  readonly fd: number;
  readonly sizeBytes: number;
  readonly modifiedNs: bigint;
  /** Time of the last change of content, name or owner (ctime). Unlike the modification time, it cannot be set back. */
  readonly changedNs: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Whether it is known to be on a disk of this machine, or in its memory: reading it cannot hang. */
  readonly isLocal?: boolean;
  /** Returns the handle; the descriptor is closed when nobody uses it any more. May be called more than once. */
  release(): void;
}

/** An unused descriptor is closed after this long: a deleted file must not hold its disk space because of us. */
const IDLE_MS = 1000;

/** Unused descriptors that are cached; beyond that they are closed at once. */
const MAX_IDLE = 32;

interface Entry {
  fd: number;
  ino: bigint;
  dev: bigint;
  users: number;
  idleSince: number;
  /** Whether the name still refers to this file; if not, the last user closes it. */
  current: boolean;
}

/**
 * Opens log files by name, verified, and caches the descriptors of busy ones briefly. Every request checks the name
 * again and reuses a descriptor only for the very same file, so the content served is always that of the named file.
 */
export class HandleCache {
  readonly #dir: string;
  readonly #isHidden: (name: string) => boolean;
  readonly #tree: LogTree;
  readonly #entries = new Map<string, Entry>();
  readonly #stats: EntryStats;
  readonly #lookups: SharedLookup<FoundEntry>;
  readonly #lookupsNow: GatheredLookup<FoundEntry>;
  #open = 0;
  #sweeper: NodeJS.Timeout | undefined;

  /** Files with hidden names, and links to them, are treated as missing. */
  constructor(dir: string, isHidden: (name: string) => boolean = () => false, tree: LogTree = FLAT) {
    this.#dir = dir;
    this.#tree = tree;
    this.#isHidden = isHidden;
    this.#lookups = new SharedLookup((name) => {
      const at = locate(dir, tree, name);
      return findEntry(at.dir, at.name);
    });
    this.#stats = new EntryStats(dir);
    this.#lookupsNow = new GatheredLookup((name) => findEntryNow(dir, name, this.#stats) ?? this.#lookups.get(name));
  }

  /** Open descriptors, in use or cached. */
  get openCount(): number {
    return this.#open;
  }

  async acquire(name: string): Promise<LogHandle> {
    const at = locate(this.#dir, this.#tree, name);
    assertSafeName(at.name, at.depth);
    if (this.#isHidden(name)) throw notALog(name);
    try {
      const isHere = at.dir === this.#dir && this.#stats.isLocal;
      const found = await (isHere ? this.#lookupsNow : this.#lookups).get(name);
      const cached = this.#cachedFor(name, found.stats);
      return cached ? this.#lend(cached, name, found.stats, isHere) : await this.#openFresh(name, found);
    } catch (error) {
      throw toLogError(error, name);
    }
  }

  /** Stats of the entry with this name, read on this thread; `undefined` where that may take long, or fails. */
  statNow(name: string): BigIntStats | undefined {
    const isHere = locate(this.#dir, this.#tree, name).dir === this.#dir && this.#stats.isLocal;
    return isHere ? findEntryNow(this.#dir, name, this.#stats)?.stats : undefined;
  }

  /** Closes cached descriptors. Handles in use are closed when they are released. */
  close(): void {
    clearTimeout(this.#sweeper);
    this.#sweeper = undefined;
    for (const name of [...this.#entries.keys()]) this.#forget(name);
  }

  /** The cached descriptor, if it is of this very file. */
  #cachedFor(name: string, { ino, dev }: BigIntStats): Entry | undefined {
    const cached = this.#entries.get(name);
    return cached && cached.ino === ino && cached.dev === dev ? cached : undefined;
  }

  async #openFresh(name: string, found: FoundEntry): Promise<LogHandle> {
    const at = locate(this.#dir, this.#tree, name);
    // What is in a mount was put there by us: links in it lead nowhere else.
    const { roots, own } = findMount(this.#tree, name) ? FLAT : this.#tree;
    const { fd, stats, target } = await openInside(at.dir, at.name, { ...found, roots, own });
    this.#open++;
    const entry: Entry = { fd, ino: stats.ino, dev: stats.dev, users: 0, idleSince: 0, current: false };
    if (target !== undefined && this.#isHidden(target)) {
      this.#closeEntry(entry);
      throw notALog(name);
    }
    // A link is verified again for every request, so its descriptor is not cached.
    if (target !== undefined) return this.#lend(entry, name, stats);
    const cached = this.#cachedFor(name, stats);
    if (cached) {
      // Another request opened the same file first.
      this.#closeEntry(entry);
      return this.#lend(cached, name, stats);
    }
    this.#forget(name);
    entry.current = true;
    this.#entries.set(name, entry);
    return this.#lend(entry, name, stats);
  }

  /** `isLocal` is about an entry of the directory itself: a link may lead to another file system. */
  #lend(entry: Entry, name: string, stats: BigIntStats, isLocal = false): LogHandle {
    entry.users++;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      entry.users--;
      if (entry.users === 0) this.#park(entry, name);
    };
    const { size, mtimeNs: modifiedNs, ctimeNs: changedNs, dev, ino } = stats;
    return { name, fd: entry.fd, sizeBytes: Number(size), modifiedNs, changedNs, dev, ino, isLocal, release };
  }

  #park(entry: Entry, name: string): void {
    if (!entry.current) {
      this.#closeEntry(entry);
    } else if (this.#entries.size > MAX_IDLE) {
      this.#forget(name);
    } else {
      entry.idleSince = performance.now();
      this.#sweeper ??= setTimeout(() => this.#sweep(), IDLE_MS).unref();
    }
  }

  #sweep(): void {
    this.#sweeper = undefined;
    const now = performance.now();
    let resting = 0;
    for (const [name, entry] of this.#entries) {
      if (entry.users > 0) continue;
      if (now - entry.idleSince >= IDLE_MS) this.#forget(name);
      else resting++;
    }
    if (resting > 0) this.#sweeper = setTimeout(() => this.#sweep(), IDLE_MS).unref();
  }

  #forget(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    entry.current = false;
    if (entry.users === 0) this.#closeEntry(entry);
  }

  #closeEntry(entry: Entry): void {
    this.#open--;
    // Closing a descriptor that was only read has no failure anyone could act on.
    void unneeded(closeFd(entry.fd));
  }
}

function toLogError(thrown: unknown, name: string): unknown {
  const code = systemCode(thrown);
  if (thrown instanceof LogError || code === undefined) return thrown;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' || code === 'ELOOP' || code === 'ENXIO') {
    return notALog(name);
  }
  return unreadable(name, thrown);
}
