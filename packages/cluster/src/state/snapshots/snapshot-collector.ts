import { errorMessage } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import type { Clocks } from '../../fan-out/clock.ts';
import type { Peer, Peers } from '../../fan-out/peers.ts';
import type { SnapshotCache } from '../../membership/snapshots/snapshot-cache.ts';
import { withDeadline } from '../../requests/bounded-calls.ts';
import { reportMistake } from '../../requests/member-failure.ts';
import type { Masked } from '../../settings/secrets.ts';
import { type FetchedSnapshot, fetchSnapshot } from './fetch-snapshot.ts';

/**
 * Minimum time between two members: with dozens of members each is fetched less often, because fetching a thousand every half
 * minute would use a seventh of a core.
 */
export const MIN_INTERVAL_MS = 2000;

/** The same while there are new members without a snapshot. */
const MIN_INTERVAL_NEW_MS = 100;

/** Overhead of a snapshot: member, clock and punctuation. */
const FRAME_BYTES = 4096;

/** Fractions of the budget of a member for configuration and records each, and for its list of files. */
const TEXT_SHARE = 0.45;
const FILES_SHARE = 0.1;

/** A snapshot that this node no longer has to keep is dropped after this many intervals. */
const MOVED_AFTER = 10;

const DEFAULTS = {
  nowMs: () => Date.now(),
  runningMs: () => performance.now(),
  random: () => Math.random(),
  keeps: (_id: string) => true,
  listenMs: 30_000,
  timeoutMs: 10_000,
  maxConfigBytes: 256 * 1024,
  maxRecordBytes: 256 * 1024,
  maxFileBytes: 64 * 1024,
};

export interface SnapshotCollectorDeps {
  /** Already loaded. */
  snapshots: SnapshotCache;
  peers: Pick<Peers, 'all'>;
  clocks: Clocks;
  /** Whether this node keeps a snapshot of a member; default: of every one. */
  keeps?: (id: string) => boolean;
  /** Masks a configuration; `undefined` if that is not possible: then it is not stored. */
  mask(configText: string): Masked;
  /** Reports a mistake in this program. */
  report?(problem: string): void;
  /** Returns 0 to 1, so that nodes do not fetch at the same time. */
  random?: () => number;
  /** Interval per member; longer with hundreds of members. */
  listenMs?: number;
  timeoutMs?: number;
  /** Per member; larger configurations are not stored. */
  maxConfigBytes?: number;
  maxRecordBytes?: number;
  maxFileBytes?: number;
  /** Called when no member waits for its first snapshot; never rejects. */
  onCollected?: (options: { signal: AbortSignal }) => Promise<void>;
  nowMs?: () => number;
  /** Monotonic. */
  runningMs?: () => number;
}

/** What a member last sent, by the monotonic clock of this node. */
export interface HeardMember {
  atMs: number;
  /** The time of its newest record on the same clock; `null` if that is not known. */
  lastRecordMs: number | null;
}

/** Maintains a bounded snapshot of each other member, so that a dead node can still be read. */
export class SnapshotCollector {
  readonly #deps: SnapshotCollectorDeps & typeof DEFAULTS;
  readonly #abortController = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #collecting = NO_WORK;
  #lastCollected = '';
  /** Members tried since they joined, successfully or not. */
  readonly #tried = new Set<string>();
  readonly #heard = new Map<string, HeardMember>();

  constructor(deps: SnapshotCollectorDeps) {
    this.#deps = { ...DEFAULTS, ...deps };
  }

  get #snapshots(): SnapshotCache {
    return this.#deps.snapshots;
  }

  /** What a member sent since this node started; `undefined` if nothing. */
  heardOf(id: string): HeardMember | undefined {
    return this.#heard.get(id);
  }

  /** Starts fetching, one member at a time. Does not keep the process alive. */
  start(): void {
    const { listenMs, random } = this.#deps;
    const next = () => {
      if (this.#abortController.signal.aborted) return;
      const others = this.#others();
      const leastMs = others.some((peer) => this.#isNew(peer)) ? MIN_INTERVAL_NEW_MS : MIN_INTERVAL_MS;
      const everyMs = Math.min(listenMs, Math.max(leastMs, listenMs / Math.max(1, others.length)));
      const waitMs = everyMs * (0.75 + random() / 2);
      this.#timer = setTimeout(() => {
        this.#collecting = owned(this.#collectNext().finally(next), (error) =>
          this.#deps.report?.(`a snapshot cannot be taken: ${errorMessage(error)}`),
        );
      }, waitMs).unref();
    };
    next();
  }

  /** Fetches all members once, one at a time. */
  async collectAll(): Promise<void> {
    for (const peer of this.#others()) await this.#collect(peer);
    await this.#expire();
    await this.#deps.onCollected?.(this.#abortController);
  }

  /** Stops fetching and writes pending snapshots. Idempotent. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#abortController.abort();
    await this.#collecting;
    await this.#snapshots.flush();
  }

  #others(): Peer[] {
    const { peers, keeps } = this.#deps;
    return peers.all().filter(({ member }) => !member.isSelf && keeps(member.id));
  }

  async #collectNext(): Promise<void> {
    const others = this.#others();
    const uncollected = others.find((peer) => this.#isNew(peer));
    const next = uncollected ?? others.find(({ member }) => member.id > this.#lastCollected) ?? others[0];
    if (next && !uncollected) this.#lastCollected = next.member.id;
    if (next) await this.#collect(next);
    await this.#expire();
    if (!others.some((peer) => this.#isNew(peer))) await this.#deps.onCollected?.(this.#abortController);
  }

  #isNew({ member }: Peer): boolean {
    return !this.#tried.has(member.id);
  }

  async #collect(peer: Peer): Promise<void> {
    const { mask, timeoutMs, maxConfigBytes, maxRecordBytes, maxFileBytes } = this.#deps;
    const limits = {
      maxConfigBytes: this.#share(maxConfigBytes, TEXT_SHARE),
      maxRecordBytes: this.#share(maxRecordBytes, TEXT_SHARE),
      maxFileBytes: this.#share(maxFileBytes, FILES_SHARE),
    };
    this.#tried.add(peer.member.id);
    try {
      const fetched = await withDeadline((signal) => fetchSnapshot(peer, { mask, timeoutMs, signal, ...limits }), {
        timeoutMs,
        signal: this.#abortController.signal,
      });
      this.#note(peer, fetched);
      this.#store(peer, fetched);
    } catch (error) {
      reportMistake(error, this.#deps.report);
      // If the member failed, the next request for it reports that; write what it sent before.
      this.#snapshots.settle(peer.member.id);
    }
    await this.#snapshots.written();
  }

  #note({ member: { id } }: Peer, fetched: FetchedSnapshot): void {
    const { clocks, nowMs, runningMs } = this.#deps;
    const atMs = runningMs();
    const newestMs = newestTime(fetched);
    const ageMs = nowMs() + (clocks.of(id)?.offsetMs ?? 0) - (newestMs ?? 0);
    const lastRecordMs = newestMs === undefined ? (this.#heard.get(id)?.lastRecordMs ?? null) : atMs - ageMs;
    this.#heard.set(id, { atMs, lastRecordMs });
  }

  #store(queried: Peer, { config, records, files }: FetchedSnapshot): void {
    const { clocks, nowMs } = this.#deps;
    // Its role may have become known meanwhile.
    const { member } = this.#others().find((peer) => peer.member.id === queried.member.id) ?? queried;
    const known = this.#snapshots.get(member.id);
    this.#snapshots.put({
      member: { ...member, isSelf: false },
      asOfMs: nowMs(),
      clock: clocks.of(member.id) ?? null,
      config: config === undefined ? (known?.config ?? null) : config,
      records: records ?? known?.records ?? [],
      files: files ?? known?.files ?? null,
      // It may have departed meanwhile.
      departed: known?.departed ?? null,
    });
  }

  /** An equal share of the total, so that present members never evict each other. */
  #share(bytes: number, share: number): number {
    const each = this.#snapshots.maxTotalBytes / Math.max(1, this.#others().length);
    return Math.min(bytes, Math.max(0, Math.floor((each - FRAME_BYTES) * share)));
  }

  async #expire(): Promise<void> {
    const here = new Set(this.#deps.peers.all().map(({ member }) => member.id));
    for (const id of this.#tried) if (!here.has(id)) this.#tried.delete(id);
    for (const id of this.#heard.keys()) if (!here.has(id)) this.#heard.delete(id);
    this.#dropOthers(here);
    this.#snapshots.expire();
    await this.#snapshots.written();
  }

  /** Snapshots of members that others keep now, once those have had the time to take theirs. */
  #dropOthers(here: ReadonlySet<string>): void {
    const { keeps, listenMs, nowMs } = this.#deps;
    const isOld = (asOfMs: number) => nowMs() - asOfMs > MOVED_AFTER * listenMs;
    for (const { member, asOfMs, departed } of this.#snapshots.all())
      if (departed === null && here.has(member.id) && isOld(asOfMs) && !keeps(member.id))
        this.#snapshots.drop(member.id);
  }
}

/** By the clock of the member. Its records are newest first, but not all of them have a time. */
function newestTime({ records, files }: FetchedSnapshot): number | undefined {
  const times = [...(files ?? []).map(({ lastTimeMs }) => lastTimeMs), ...(records ?? []).map(({ timeMs }) => timeMs)];
  return times.reduce<number | undefined>(
    (newest, timeMs) => (timeMs == null ? newest : Math.max(newest ?? timeMs, timeMs)),
    undefined,
  );
}
