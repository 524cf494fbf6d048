import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type MemberWords, parseWords, writeWords } from './member-words.ts';
import { reasonOf, type WordsStore } from './words-store.ts';

/** More is loaded than is kept, since only later it is known who is gone; far more was never written. */
const LOADED_SHARE = 2;

/** Quick rather than small: most of what can be had comes with the first. */
const PACK_LEVEL = 1;

export interface KeptWordsParts {
  /** `null`: kept in memory only. */
  store: WordsStore | null;
  /** Told whenever something is not kept or was not read, in words for the log. */
  tell(problem: string): void;
  nowMs(): number;
  /** Of one member, about this often: a disk is not for every line. */
  writeMs: number;
  maxTotalBytes: number;
  maxAgeMs: number;
}

interface Entry {
  id: string;
  asOfMs: number;
  /** As it is written, packed: of a thousand members one is read now and then. */
  packed: Buffer;
  bytes: number;
  writtenMs: number;
  isWritten: boolean;
}

/** Words in memory and, as far as the disk takes them, on disk; within their limits. */
export class KeptWords {
  readonly #parts: KeptWordsParts;
  readonly #entries = new Map<string, Entry>();
  /** Writes one after the other. */
  #writing: Promise<void> = Promise.resolve();
  #problem: string | null = null;

  constructor(parts: KeptWordsParts) {
    this.#parts = parts;
  }

  get problem(): string | null {
    return this.#problem;
  }

  of(id: string): MemberWords | undefined {
    const entry = this.#entries.get(id);
    return entry && wordsOf(entry);
  }

  /** Of those that are not here, and not for too long; ordered by id. */
  gone(here: ReadonlySet<string>): MemberWords[] {
    const oldestMs = this.#parts.nowMs() - this.#parts.maxAgeMs;
    return this.#goneEntries(here)
      .filter(({ asOfMs }) => asOfMs >= oldestMs)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap((entry) => wordsOf(entry) ?? []);
  }

  /** What earlier runs left. Never throws for what is on disk: then there is less to show, and it is told. */
  async load(): Promise<void> {
    const { store, maxTotalBytes, nowMs, tell } = this.#parts;
    if (store === null) return;
    try {
      const { words: all, skipped } = await store.load({ maxBytes: maxTotalBytes * LOADED_SHARE });
      for (const problem of skipped) tell(`last words were not read: ${problem}`);
      for (const words of all) {
        // From the future only if a clock was set back: it would never be old.
        const told = { ...words, asOfMs: Math.min(words.asOfMs, nowMs()) };
        this.#entries.set(words.member.id, { ...pack(told), writtenMs: nowMs(), isWritten: true });
      }
    } catch (error) {
      this.#setProblem(error);
    }
  }

  keep(words: MemberWords): void {
    const { nowMs, writeMs } = this.#parts;
    const writtenMs = this.#entries.get(words.member.id)?.writtenMs ?? -Infinity;
    const entry = { ...pack(words), writtenMs, isWritten: false };
    this.#entries.set(words.member.id, entry);
    if (nowMs() - writtenMs >= writeMs) this.#write(entry);
  }

  /** Writes what a member said last, if that is not written: it may be the last. */
  settle(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#write(entry);
  }

  /** Drops those that are gone too long; then, while it is too much, those that are gone longest. */
  forget(here: ReadonlySet<string>): void {
    const { nowMs, maxAgeMs, maxTotalBytes } = this.#parts;
    let total = [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { id, asOfMs, bytes } of this.#goneEntries(here).sort((a, b) => a.asOfMs - b.asOfMs)) {
      if (asOfMs >= nowMs() - maxAgeMs && total <= maxTotalBytes) return;
      total -= bytes;
      this.#entries.delete(id);
      this.#onDisk({ act: (store) => store.remove(id) });
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

  #goneEntries(here: ReadonlySet<string>): Entry[] {
    return [...this.#entries.values()].filter(({ id }) => !here.has(id));
  }

  #write(entry: Entry): void {
    if (entry.isWritten) return;
    entry.isWritten = true;
    entry.writtenMs = this.#parts.nowMs();
    const onFailure = () => {
      entry.isWritten = false;
    };
    const words = wordsOf(entry);
    if (words) this.#onDisk({ act: (store) => store.save(words), onFailure });
  }

  #onDisk({ act, onFailure }: { act(store: WordsStore): Promise<void>; onFailure?: () => void }): void {
    const { store } = this.#parts;
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
    const problem = `last words are kept in memory only: ${reasonOf(error)}`;
    // Once, not with every member and every round.
    if (this.#problem === null) this.#parts.tell(problem);
    this.#problem = problem;
  }
}

function pack(words: MemberWords): Pick<Entry, 'id' | 'asOfMs' | 'packed' | 'bytes'> {
  const text = Buffer.from(writeWords(words));
  const { member, asOfMs } = words;
  return { id: member.id, asOfMs, packed: deflateRawSync(text, { level: PACK_LEVEL }), bytes: text.length };
}

function wordsOf({ packed }: Entry): MemberWords | undefined {
  return parseWords(inflateRawSync(packed).toString());
}
