import { createHash } from 'node:crypto';
import type { FileHead } from '@porthole/logs';
import type { KnownFile } from './sink.ts';

/** A file of a log, and how much of it was shipped. */
export interface FileEntry {
  /** Identifies its text: what rows have as `file_id`. Never changes. */
  id: string;
  /** Hash and length of the start of its text, by which it is recognized. */
  hash: string;
  headBytes: number;
  /** End of what was shipped. */
  end: number;
  /** The last record that was shipped: it may get more lines. */
  lastOffset: number;
  cursor: string | null;
  /** Time of the last timed record before that one. */
  beforeMs: number;
  /** Time of the newest record up to its last one; 0: none has one. `null`: nothing of it is shipped, or it is not known. */
  toMs: number | null;
  /** Bytes of text when it was last seen plain. */
  size: number;
  /** Up to here it was read, though nothing at its end was a record. */
  seen: number;
  /** Since when it is not there. */
  missingMs: number | null;
  /** What was deleted before it was shipped has been counted. */
  isCounted: boolean;
}

/** Older ones that no longer exist are forgotten. */
const MAX_ENTRIES = 512;

/** A file may be away for a moment while it is renamed. */
const GONE_MS = 60_000;

const ID = /^([0-9a-f]{16})\.([0-9a-z]{1,3})(?:-\d{1,6})?$/;

/** Files that no longer exist, and of which records were shipped. */
export interface GoneFiles {
  count: number;
  /** Time of the newest of these records; 0 if there is none, or none has one. */
  toMs: number;
}

/** The files of one log, recognized by the start of their text. */
export class LogFiles {
  entries: FileEntry[];
  /** Those that exist, oldest first, as they were seen last. */
  present: { head: FileHead; entry: FileEntry }[] = [];

  /** Those that are forgotten. */
  #forgotten: GoneFiles;

  constructor(entries: FileEntry[] = [], forgotten: GoneFiles = { count: 0, toMs: 0 }) {
    this.entries = entries;
    this.#forgotten = forgotten;
  }

  /** Files whose records are in the archive: they keep their identities. */
  static fromKnown(files: readonly KnownFile[]): LogFiles {
    const entries = files.toReversed().flatMap(({ id, toMs }) => {
      const [, hash, length] = ID.exec(id) ?? [];
      return hash === undefined ? [] : [{ ...newEntry(id, hash, Number.parseInt(length ?? '', 36)), toMs }];
    });
    return new LogFiles(entries);
  }

  get forgotten(): GoneFiles {
    return this.#forgotten;
  }

  /** Files of which only the archive has records. `newestMs`: of all that was shipped, for files of which it is not known. */
  gone(newestMs: number | null): GoneFiles {
    return this.entries.reduce(
      (all, entry) => (entry.missingMs === null ? all : withFile(all, entry, newestMs)),
      this.#forgotten,
    );
  }

  /** Takes note of the files that exist now; whether there is one that was not known. */
  update(heads: readonly FileHead[], nowMs: number): boolean {
    const found = this.#match(heads);
    let isNew = false;
    this.present = heads.map((head) => {
      let entry = found.get(head);
      if (!entry) {
        entry = this.#add(head);
        isNew = true;
      }
      entry.missingMs = null;
      entry.isCounted = false;
      if (!head.compressed) entry.size = head.sizeBytes;
      // A longer start distinguishes it from more files.
      if (head.head.length > entry.headBytes) {
        entry.headBytes = head.head.length;
        entry.hash = hashOf(head.head);
      }
      return { head, entry };
    });
    const present = new Set(this.present.map(({ entry }) => entry));
    for (const entry of this.entries) if (!present.has(entry)) entry.missingMs ??= nowMs;
    return isNew;
  }

  /** Bytes of files that are gone for good and were not shipped; each is counted once. */
  takeLost(nowMs: number, newestMs: number | null): number {
    let lost = 0;
    for (const entry of this.entries) {
      if (entry.missingMs === null || entry.isCounted || nowMs - entry.missingMs < GONE_MS) continue;
      entry.isCounted = true;
      lost += unread(entry);
    }
    while (this.entries.length > MAX_ENTRIES) {
      const oldest = this.entries.findIndex(({ isCounted }) => isCounted);
      if (oldest < 0) break;
      for (const entry of this.entries.splice(oldest, 1)) this.#forgotten = withFile(this.#forgotten, entry, newestMs);
    }
    return lost;
  }

  /** The most specific starts first; of files with the same one, those that were there first keep their order. */
  #match(heads: readonly FileHead[]): Map<FileHead, FileEntry> {
    const found = new Map<FileHead, FileEntry>();
    const groups = new Map<string, FileEntry[]>();
    for (const entry of this.entries) {
      const key = `${entry.headBytes}.${entry.hash}`;
      groups.set(key, [...(groups.get(key) ?? []), entry]);
    }
    const sorted = [...groups.values()].sort((a, b) => (b[0]?.headBytes ?? 0) - (a[0]?.headBytes ?? 0));
    for (const entries of sorted) {
      const [{ hash, headBytes }] = entries as [FileEntry];
      const files = heads.filter(
        (head) =>
          !found.has(head) && head.head.length >= headBytes && hashOf(head.head.subarray(0, headBytes)) === hash,
      );
      // Rotation deletes the oldest, and new files are the newest.
      const known = files.length < entries.length ? entries.slice(entries.length - files.length) : entries;
      for (const [index, entry] of known.entries()) {
        const file = files[index];
        if (file) found.set(file, entry);
      }
    }
    return found;
  }

  #add({ head }: FileHead): FileEntry {
    const hash = hashOf(head);
    const base = `${hash}.${head.length.toString(36)}`;
    const used = new Set(this.entries.map(({ id }) => id));
    let id = base;
    for (let ordinal = 1; used.has(id); ordinal++) id = `${base}-${ordinal}`;
    const entry = newEntry(id, hash, head.length);
    this.entries.push(entry);
    return entry;
  }
}

function withFile({ count, toMs }: GoneFiles, entry: FileEntry, newestMs: number | null): GoneFiles {
  const isShipped = entry.end > 0 || typeof entry.toMs === 'number';
  if (!isShipped) return { count, toMs };
  return { count: count + 1, toMs: Math.max(toMs, entry.toMs ?? newestMs ?? 0) };
}

/** Bytes of a file that were not shipped, as far as its size is known. */
export function unread({ size, end, seen }: FileEntry): number {
  return Math.max(0, size - Math.max(end, seen));
}

function newEntry(id: string, hash: string, headBytes: number): FileEntry {
  return {
    id,
    hash,
    headBytes,
    end: 0,
    lastOffset: 0,
    cursor: null,
    beforeMs: 0,
    toMs: null,
    size: 0,
    seen: 0,
    missingMs: null,
    isCounted: false,
  };
}

function hashOf(head: Uint8Array): string {
  return createHash('sha256').update(head).digest('hex').slice(0, 16);
}
