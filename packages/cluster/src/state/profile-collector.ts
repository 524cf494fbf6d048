import { errorMessage, type NodeConfig, type NodeState } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import type { LogFileDetails } from '@porthole/logs/types';
import type { Clocks } from '../fan-out/clock.ts';
import type { Peer, Peers } from '../fan-out/peers.ts';
import { isFile } from '../membership/profiles/member-profile.ts';
import type { ProfileCache } from '../membership/profiles/profile-cache.ts';
import { withDeadline } from '../requests/bounded-calls.ts';
import { reportMistake } from '../requests/member-failure.ts';
import { type Masked, maskConfig } from '../settings/secrets.ts';

/**
 * Minimum time between two members: with dozens of members each is fetched less often, because fetching a thousand every half
 * minute would use a seventh of a core.
 */
export const MIN_INTERVAL_MS = 2000;

/** The same while there are new members of which nothing is kept. */
const MIN_INTERVAL_NEW_MS = 100;

/** Overhead of a profile: member, clock and punctuation. */
const FRAME_BYTES = 4096;

/** Fractions of the budget of a member for its configuration and its list of files. */
const TEXT_SHARE = 0.8;
const FILES_SHARE = 0.2;

/** Fraction of the timeout for each part: a slow one must not affect the other. */
const PART_SHARE = 0.9;

/** A profile that this node no longer has to keep is dropped after this many intervals. */
const MOVED_AFTER = 10;

const DEFAULTS = {
  nowMs: () => Date.now(), // clock: as of when a configuration is shown
  runningMs: () => performance.now(),
  random: () => Math.random(),
  keeps: (_id: string) => true,
  listenMs: 30_000,
  timeoutMs: 10_000,
  maxConfigBytes: 256 * 1024,
  maxFileBytes: 64 * 1024,
};

export interface ProfileCollectorDeps {
  /** Already loaded. */
  profiles: ProfileCache;
  peers: Pick<Peers, 'all'>;
  clocks: Clocks;
  /** Whether this node keeps a profile of a member; default: of every one. */
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
  maxFileBytes?: number;
  /** Called when no member waits for its first profile; never rejects. */
  onCollected?: (options: { signal: AbortSignal }) => Promise<void>;
  nowMs?: () => number;
  /** Monotonic. */
  runningMs?: () => number;
}

/** What a member last sent, by the monotonic clock of this node. */
export interface SeenMember {
  atMs: number;
  /** The time of its newest record on the same clock; `null` if that is not known. */
  lastRecordMs: number | null;
}

/** Maintains a bounded profile of each other member, so that a dead node can still be read. */
export class ProfileCollector {
  readonly #deps: ProfileCollectorDeps & typeof DEFAULTS;
  readonly #abortController = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #collecting = NO_WORK;
  #lastCollected = '';
  /** Members tried since they joined, successfully or not. */
  readonly #tried = new Set<string>();
  readonly #seen = new Map<string, SeenMember>();

  constructor(deps: ProfileCollectorDeps) {
    this.#deps = { ...DEFAULTS, ...deps };
  }

  get #profiles(): ProfileCache {
    return this.#deps.profiles;
  }

  /** What a member sent since this node started; `undefined` if nothing. */
  lastSeen(id: string): SeenMember | undefined {
    return this.#seen.get(id);
  }

  /** Starts fetching, one member at a time. Does not keep the process alive. */
  start(): void {
    const { listenMs, random } = this.#deps;
    const next = () => {
      if (this.#abortController.signal.aborted) return;
      const others = this.#others();
      const isNew = others.some((peer) => this.#isNew(peer));
      const eachMs = isNew ? MIN_INTERVAL_NEW_MS : Math.max(MIN_INTERVAL_MS, listenMs / Math.max(1, others.length));
      const everyMs = Math.min(listenMs, eachMs);
      const waitMs = everyMs * (0.75 + random() / 2);
      this.#timer = setTimeout(() => {
        this.#collecting = owned(this.#collectNext().finally(next), (error) =>
          this.#deps.report?.(`the configuration of a member cannot be kept: ${errorMessage(error)}`),
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

  /** Stops fetching and writes pending profiles. Idempotent. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#abortController.abort();
    await this.#collecting;
    await this.#profiles.flush();
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
    const { mask, timeoutMs, maxConfigBytes, maxFileBytes } = this.#deps;
    const limits = {
      maxConfigBytes: this.#share(maxConfigBytes, TEXT_SHARE),
      maxFileBytes: this.#share(maxFileBytes, FILES_SHARE),
    };
    this.#tried.add(peer.member.id);
    try {
      const fetched = await withDeadline((signal) => fetchProfile(peer, { mask, timeoutMs, signal, ...limits }), {
        timeoutMs,
        signal: this.#abortController.signal,
      });
      this.#note(peer, fetched);
      this.#store(peer, fetched);
    } catch (error) {
      reportMistake(error, this.#deps.report);
      // If the member failed, the next request for it reports that; write what it sent before.
      this.#profiles.settle(peer.member.id);
    }
    await this.#profiles.written();
  }

  #note({ member: { id } }: Peer, fetched: FetchedProfile): void {
    const { clocks, nowMs, runningMs } = this.#deps;
    const atMs = runningMs();
    const newestMs = newestTime(fetched);
    const ageMs = nowMs() + (clocks.of(id)?.offsetMs ?? 0) - (newestMs ?? 0);
    const lastRecordMs = newestMs === undefined ? (this.#seen.get(id)?.lastRecordMs ?? null) : atMs - ageMs;
    this.#seen.set(id, { atMs, lastRecordMs });
  }

  #store(queried: Peer, { config, files }: FetchedProfile): void {
    const { clocks, nowMs } = this.#deps;
    // Its role may have become known meanwhile.
    const { member } = this.#others().find((peer) => peer.member.id === queried.member.id) ?? queried;
    const known = this.#profiles.get(member.id);
    this.#profiles.put({
      member: { ...member, isSelf: false },
      asOfMs: nowMs(),
      clock: clocks.of(member.id) ?? null,
      config: config === undefined ? (known?.config ?? null) : config,
      files: files ?? known?.files ?? null,
      // It may have departed meanwhile.
      departed: known?.departed ?? null,
    });
  }

  /** An equal share of the total, so that present members never evict each other. */
  #share(bytes: number, share: number): number {
    const each = this.#profiles.maxTotalBytes / Math.max(1, this.#others().length);
    return Math.min(bytes, Math.max(0, Math.floor((each - FRAME_BYTES) * share)));
  }

  async #expire(): Promise<void> {
    const here = new Set(this.#deps.peers.all().map(({ member }) => member.id));
    for (const id of this.#tried) if (!here.has(id)) this.#tried.delete(id);
    for (const id of this.#seen.keys()) if (!here.has(id)) this.#seen.delete(id);
    this.#dropOthers(here);
    this.#profiles.expire();
    await this.#profiles.written();
  }

  /** What others keep now, once they have had the time to fetch it. */
  #dropOthers(here: ReadonlySet<string>): void {
    const { keeps, listenMs, nowMs } = this.#deps;
    const isOld = (asOfMs: number) => nowMs() - asOfMs > MOVED_AFTER * listenMs;
    for (const { member, asOfMs, departed } of this.#profiles.all())
      if (departed === null && here.has(member.id) && isOld(asOfMs) && !keeps(member.id))
        this.#profiles.drop(member.id);
  }
}

interface FetchOptions {
  mask(configText: string): Masked;
  timeoutMs: number;
  maxConfigBytes: number;
  maxFileBytes: number;
  signal: AbortSignal;
}

interface FetchedProfile {
  /** `undefined`: not received, the previous one stays. `null`: must not be stored. */
  config: NodeConfig | null | undefined;
  /** `undefined`: not received. */
  files: LogFileDetails[] | undefined;
}

/** Fetches configuration and list of files, each independently. Throws if both fail. */
async function fetchProfile({ state }: Pick<Peer, 'state'>, options: FetchOptions): Promise<FetchedProfile> {
  const deadline = { timeoutMs: options.timeoutMs * PART_SHARE, signal: options.signal };
  const [config, files] = await Promise.allSettled([
    withDeadline((signal) => fetchConfig(state, { ...options, signal }), deadline),
    withDeadline((signal) => fetchFiles(state, { ...options, signal }), deadline),
  ]);
  if (config.status === 'rejected' && files.status === 'rejected') throw config.reason;
  return {
    config: config.status === 'fulfilled' ? config.value : undefined,
    files: files.status === 'fulfilled' ? files.value : undefined,
  };
}

/** The most recently written files that fit. */
async function fetchFiles(state: NodeState, { signal, maxFileBytes }: FetchOptions): Promise<LogFileDetails[]> {
  const files = await state.logFiles({ signal });
  const newest = files.filter(isFile).sort((a, b) => b.modifiedMs - a.modifiedMs);
  let bytes = 0;
  const tooMuch = newest.findIndex((file) => {
    bytes += Buffer.byteLength(JSON.stringify(file));
    return bytes > maxFileBytes;
  });
  return newest.slice(0, tooMuch < 0 ? newest.length : tooMuch).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function fetchConfig(
  state: NodeState,
  { mask, maxConfigBytes, signal }: FetchOptions,
): Promise<NodeConfig | null> {
  const config = await state.config({ signal });
  if (Buffer.byteLength(config.config) > maxConfigBytes) return null;
  return maskConfig(config, { mask });
}

/** By the clock of the member. */
function newestTime({ files }: FetchedProfile): number | undefined {
  const times = (files ?? []).flatMap(({ lastTimeMs }) => lastTimeMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
