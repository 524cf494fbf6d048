import { errorMessage } from '@porthole/contract';
import { NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import type { FollowItem, FollowQuery, FoundRecord } from '@porthole/logs/types';
import type { FollowKeeper } from '../contract-only/member-node.ts';
import type { Clocks } from '../fan-out/clock.ts';
import type { Recordings } from './recordings.ts';

/** Parts of a request that do not decide which records come. */
const UNFILTERED: ReadonlySet<string> = new Set(['start', 'raw', 'fields']);

/** Until when there are records is written so often; after a restart, the time of the text itself counts. */
const SAVE_MS = 10_000;

export interface PassedRecordsDeps {
  recordings: Pick<Recordings, 'open'>;
  /** Whether this node records the member, or cannot record any. */
  isRecorded(id: string): boolean;
  clocks: Clocks;
  report(problem: string): void;
  nowMs(): number;
}

/** What is written of a member, by which follow. */
interface Kept {
  follow: object;
  isWhole: boolean;
}

/**
 * Keeps what passes through this node: records of a member that somebody follows through it, and that others record. If those
 * are gone too, it is what is left. Nothing says that it is complete at any time. Of several follows of a member, one is kept,
 * if possible one without a filter: what is recorded is in the order of the log.
 */
export class PassedRecords {
  readonly #deps: PassedRecordsDeps;
  readonly #kept = new Map<string, Kept>();
  readonly #writing = new Map<string, Owned>();
  readonly #savedMs = new Map<string, number>();

  constructor(deps: PassedRecordsDeps) {
    this.#deps = deps;
  }

  /** `undefined` while this node records the member itself. */
  keeperFor(id: string, request: FollowQuery): FollowKeeper | undefined {
    const { isRecorded } = this.#deps;
    if (isRecorded(id)) return undefined;
    const isWhole = Object.entries(request).every(([name, value]) => value === undefined || UNFILTERED.has(name));
    const own: Kept = { follow: {}, isWhole };
    return {
      keep: async (items, zone) => {
        const known = this.#kept.get(id);
        if (!known || (isWhole && !known.isWhole)) this.#kept.set(id, own);
        if (this.#kept.get(id) === own && !isRecorded(id)) await this.#keep(id, items, zone);
      },
      close: () => {
        if (this.#kept.get(id) !== own) return;
        this.#kept.delete(id);
        this.#savedMs.delete(id);
      },
    };
  }

  /** Resolves when it is written, or cannot be: the follow goes on. */
  async #keep(id: string, items: readonly FollowItem[], zone: string): Promise<void> {
    const records = items.filter((item): item is FoundRecord => item.type === 'record');
    if (records.length === 0) return;
    const writing = owned(
      (this.#writing.get(id) ?? NO_WORK).then(() => this.#write(id, records, zone)),
      (error) => this.#deps.report(`cannot keep the records of ${id} that are followed: ${errorMessage(error)}`),
    );
    this.#writing.set(id, writing);
    await writing;
    if (this.#writing.get(id) === writing) this.#writing.delete(id);
  }

  async #write(id: string, records: readonly FoundRecord[], zone: string): Promise<void> {
    const { recordings, clocks, isRecorded, nowMs } = this.#deps;
    const recording = await recordings.open(id);
    if (isRecorded(id)) return;
    await recording.append(records);
    const clock = clocks.of(id) ?? recording.facts.clock;
    recording.facts = { ...recording.facts, zone, clock, sinceMs: null, asOfMs: nowMs(), lostMs: null };
    if (performance.now() - (this.#savedMs.get(id) ?? -Infinity) < SAVE_MS) return;
    this.#savedMs.set(id, performance.now());
    await recording.saveFacts();
  }
}
