import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Member } from '@porthole/contract';
import { type DepartedState, type MemberSnapshot, parseSnapshot, serializeSnapshot } from './member-snapshot.ts';
import { errorMessage, type SnapshotStore } from './snapshot-store.ts';

/** More is loaded than is kept, since only later it is known who is gone; far more was never written. */
const LOADED_SHARE = 2;

/** Quick rather than small: most of what can be had comes with the first. */
const PACK_LEVEL = 1;

const DEFAULTS = {
  nowMs: () => Date.now(),
  writeMs: 2 * 60_000,
  maxTotalBytes: 64 * 1024 * 1024,
  maxAgeMs: 7 * 24 * 3_600_000,
};

export interface SnapshotCacheDeps extends Partial<typeof DEFAULTS> {
  /** `null`: kept in memory only. */
  store: SnapshotStore | null;
  /** Told whenever something is not kept or was not read, in words for the log. */
  report(problem: string): void;
  /** Of one member, about this often: a disk is not for every line. */
  writeMs?: number;
  /** Of all members together; of those that departed the one seen longest ago is forgotten first. */
  maxTotalBytes?: number;
  /** Of members that have left or failed. */
  maxAgeMs?: number;
}

/** Of a member that departed before anything of it was kept. */
const EMPTY_SNAPSHOT = { asOfMs: undefined, clock: null, config: null, records: [], files: null };

interface Entry {
  id: string;
  asOfMs: number;
  member: Member;
  departed: DepartedState | null;
  /** Of configuration, records and files, how many there are. */
  parts: number;
  /** As it is written, packed: of a thousand members one is read now and then. */
  packed: Buffer;
  bytes: number;
  writtenMs: number;
  isWritten: boolean;
}

/** Words in memory and, as far as the disk takes them, on disk; within their limits. */
export class SnapshotCache {
  readonly #deps: SnapshotCacheDeps & typeof DEFAULTS;
  readonly #entries = new Map<string, Entry>();
  /** Writes one after the other. */
  #writing: Promise<void> = Promise.resolve();
  #problem: string | null = null;

  constructor(deps: SnapshotCacheDeps) {
    this.#deps = { ...DEFAULTS, ...deps };
  }

  get maxTotalBytes(): number {
    return this.#deps.maxTotalBytes;
  }

  /** Why snapshots are kept in memory only; `null` while all is well. */
  get problem(): string | null {
    return this.#problem;
  }

  get(id: string): MemberSnapshot | undefined {
    const entry = this.#entries.get(id);
    return entry && unpack(entry);
  }

  /** When it was last seen. */
  asOfMs(id: string): number | undefined {
    return this.#entries.get(id)?.asOfMs;
  }

  getDeparted(id: string): DepartedState | null | undefined {
    return this.#entries.get(id)?.departed;
  }

  /** Members of which something is kept, in no order. */
  all(): readonly Pick<Entry, 'member' | 'asOfMs' | 'departed'>[] {
    return [...this.#entries.values()];
  }

  /** Of members that have left or failed, and not too long ago; ordered by id. */
  departed(): MemberSnapshot[] {
    const oldestMs = this.#deps.nowMs() - this.#deps.maxAgeMs;
    return this.#departedEntries()
      .filter((entry) => departedMs(entry) >= oldestMs)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap((entry) => unpack(entry) ?? []);
  }

  /** Marks a member as departed, also one of which nothing was kept so far: it must not vanish without a word. */
  depart(member: Member, departed: DepartedState): void {
    const { nowMs } = this.#deps;
    const known = this.get(member.id);
    const { asOfMs, clock, config, records, files } = known ?? EMPTY_SNAPSHOT;
    this.#replace({
      member: { ...member, isSelf: false },
      asOfMs: asOfMs ?? nowMs(),
      ...{ clock, config, records, files, departed },
    });
  }

  /** The member is registered again. */
  rejoin(id: string): void {
    if (!this.getDeparted(id)) return;
    const known = this.get(id);
    if (known) this.#replace({ ...known, departed: null });
  }

  /** Whether there was something to drop. */
  drop(id: string): boolean {
    if (!this.#entries.delete(id)) return false;
    this.#onDisk({ act: (store) => store.remove(id) });
    return true;
  }

  /** What earlier runs left. Never throws for what is on disk: then there is less to show, and it is told. */
  async load(): Promise<void> {
    const { store, maxTotalBytes, nowMs, report } = this.#deps;
    if (store === null) return;
    try {
      const { snapshots: all, skipped } = await store.load({ maxBytes: maxTotalBytes * LOADED_SHARE });
      for (const problem of skipped) report(`last words were not read: ${problem}`);
      for (const snapshot of all) {
        // From the future only if a clock was set back: it would never be old.
        const { departed } = snapshot;
        const loaded = {
          ...snapshot,
          asOfMs: Math.min(snapshot.asOfMs, nowMs()),
          departed: departed && { ...departed, sinceMs: Math.min(departed.sinceMs, nowMs()) },
        };
        this.#entries.set(snapshot.member.id, { ...pack(loaded), writtenMs: nowMs(), isWritten: true });
      }
    } catch (error) {
      this.#setProblem(error);
    }
  }

  put(snapshot: MemberSnapshot): void {
    const { nowMs, writeMs } = this.#deps;
    const known = this.#entries.get(snapshot.member.id);
    // Which run of a member is the last must be on disk: only of that run it counts whether it left.
    const isSameRun = known?.member.node.onlineTime === snapshot.member.node.onlineTime;
    // What was missing from the first is not left to the next write, which is minutes away.
    const isFuller = countParts(snapshot) > (known?.parts ?? 0);
    const writtenMs = (isSameRun && !isFuller && known?.writtenMs) || -Infinity;
    const entry = { ...pack(snapshot), writtenMs, isWritten: false };
    this.#entries.set(snapshot.member.id, entry);
    // Also after a clock was set back.
    if (Math.abs(nowMs() - writtenMs) >= writeMs) this.#write(entry);
  }

  /** Writes what a member said last, if that is not written: it may be the last. */
  settle(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#write(entry);
  }

  /** Drops those that departed too long ago; then, while it is too much, those that departed first. */
  expire(): void {
    const { nowMs, maxAgeMs, maxTotalBytes } = this.#deps;
    let total = [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const entry of this.#departedEntries().sort((a, b) => departedMs(a) - departedMs(b))) {
      const { id, bytes } = entry;
      if (departedMs(entry) >= nowMs() - maxAgeMs && total <= maxTotalBytes) return;
      total -= bytes;
      this.drop(id);
    }
  }

  /** Resolves when nothing is being written. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** Writes all that is not written yet. */
  async flush(): Promise<void> {
    for (const entry of this.#entries.values()) this.#write(entry);
    await this.#writing;
  }

  #departedEntries(): Entry[] {
    return [...this.#entries.values()].filter(({ departed }) => departed !== null);
  }

  #replace(snapshot: MemberSnapshot): void {
    const entry = { ...pack(snapshot), writtenMs: -Infinity, isWritten: false };
    this.#entries.set(snapshot.member.id, entry);
    this.#write(entry);
  }

  #write(entry: Entry): void {
    if (entry.isWritten) return;
    entry.isWritten = true;
    entry.writtenMs = this.#deps.nowMs();
    const onFailure = () => {
      entry.isWritten = false;
    };
    const snapshot = unpack(entry);
    if (snapshot) this.#onDisk({ act: (store) => store.save(snapshot), onFailure });
  }

  #onDisk({ act, onFailure }: { act(store: SnapshotStore): Promise<void>; onFailure?: () => void }): void {
    const { store } = this.#deps;
    if (store === null) return;
    this.#writing = this.#writing.then(async () => {
      try {
        await act(store);
        this.#problem = null;
      } catch (error) {
        onFailure?.();
        this.#setProblem(error);
      }
    });
  }

  #setProblem(error: unknown): void {
    const problem = `last words are kept in memory only: ${errorMessage(error)}`;
    // Once, not with every member and every round.
    if (this.#problem === null) this.#deps.report(problem);
    this.#problem = problem;
  }
}

/** When it departed, or was seen after that. */
function departedMs({ asOfMs, departed }: Pick<Entry, 'asOfMs' | 'departed'>): number {
  return Math.max(asOfMs, departed?.sinceMs ?? -Infinity);
}

function pack(
  snapshot: MemberSnapshot,
): Pick<Entry, 'id' | 'asOfMs' | 'member' | 'departed' | 'parts' | 'packed' | 'bytes'> {
  const text = Buffer.from(serializeSnapshot(snapshot));
  const { member, asOfMs, departed } = snapshot;
  return {
    id: member.id,
    asOfMs,
    member,
    departed,
    parts: countParts(snapshot),
    packed: deflateRawSync(text, { level: PACK_LEVEL }),
    bytes: text.length,
  };
}

function countParts({ config, records, files }: MemberSnapshot): number {
  return [config !== null, records.length > 0, files !== null].filter(Boolean).length;
}

function unpack({ packed }: Entry): MemberSnapshot | undefined {
  return parseSnapshot(inflateRawSync(packed).toString());
}
