import { createHash } from 'node:crypto';
import type { FileHead } from '@porthole/logs';

/** A file of a log, and how much of it was shipped. */
export interface FileEntry {
  /** Of its text; what rows have as `file_id`. Never changes. */
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

/** The files of one log, recognized by the start of their text. */
export class LogFiles {
  entries: FileEntry[];
  /** Those that exist, oldest first, as they were seen last. */
  present: { head: FileHead; entry: FileEntry }[] = [];

  constructor(entries: FileEntry[] = []) {
    this.entries = entries;
  }

  /** Files whose records are in the archive: they keep their identities. */
  static fromIds(ids: readonly string[]): LogFiles {
    const entries = ids.toReversed().flatMap((id) => {
      const [, hash, length] = ID.exec(id) ?? [];
      return hash === undefined ? [] : [newEntry(id, hash, Number.parseInt(length ?? '', 36))];
    });
    return new LogFiles(entries);
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
      // A longer start tells it apart from more files.
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
  takeLost(nowMs: number): number {
    let lost = 0;
    for (const entry of this.entries) {
      if (entry.missingMs === null || entry.isCounted || nowMs - entry.missingMs < GONE_MS) continue;
      entry.isCounted = true;
      lost += unread(entry);
    }
    while (this.entries.length > MAX_ENTRIES) {
      const oldest = this.entries.findIndex(({ isCounted }) => isCounted);
      if (oldest < 0) break;
      this.entries.splice(oldest, 1);
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
    size: 0,
    seen: 0,
    missingMs: null,
    isCounted: false,
  };
}

function hashOf(head: Uint8Array): string {
  return createHash('sha256').update(head).digest('hex').slice(0, 16);
}
