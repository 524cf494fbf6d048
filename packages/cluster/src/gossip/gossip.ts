import { type ExchangeRequest, type ExchangeResponse, errorMessage, type MemberOutcome } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import { withDeadline } from '../fan-out/bounded-calls.ts';
import type { ClockSource } from '../fan-out/clock.ts';
import { toOutcome } from '../fan-out/member-failure.ts';
import type { RegisteredPeer } from '../fan-out/peers.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import { MemberTable } from './member-table.ts';
import { MemberWatch, type MemberWatchDeps } from './member-watch.ts';
import { MuteMembers } from './mute-members.ts';
import { readDigest, readExchange } from './read-exchange.ts';
import { NEIGHBOURS, Rendezvous } from './rendezvous.ts';

/** Up to this many members all are contacted for each request: cheap, and as fresh as can be. */
const DIRECT_MEMBERS = 16;

/** Members a node exchanges with in a round: news reaches a thousand in five rounds. */
const EXCHANGES = 3;

/** Members tried for them: some do not take part, or are gone. */
const MAX_TRIES = 8;

/** Rounds in each refresh interval; fewer with thousands of members, whose exchanges are larger. */
const ROUNDS = 6;
const LEAST_ROUNDS = 2;
const ROUND_MS_EACH = 6;

/** In a small cluster, one member is asked in so many rounds, for nodes that use the id of this one. */
const DIRECT_ROUNDS = 3;

/** Signs of life are at most this many rounds old, unless members do not respond. */
const FRESH_ROUNDS = 10;

/** Until most members are known after the start, rounds follow each other this fast, so many times. */
const FIRST_ROUND_MS = 250;
const FIRST_ROUNDS = 12;
const MOST = 0.9;

/** A member that does not take part is tried again after so many refresh intervals. */
const MUTE_REFRESHES = 20;

/** The first request of a member waits for the first sample of this node, but not longer. */
const OWN_SAMPLE_MS = 1000;

/** Outcomes that mean there is no connection: the member is not there, not just unwilling. */
const ABSENT: ReadonlySet<MemberOutcome> = new Set<MemberOutcome>(['refused', 'timeout', 'tls']);

export interface GossipDeps
  extends Pick<MemberWatchDeps, 'peers' | 'selfId' | 'clocks' | 'inspect' | 'refreshMs' | 'timeoutMs'> {
  directory: Pick<MemberDirectory, 'members' | 'onChange' | 'learn'>;
  /** Whether a member has described itself: in a small cluster, only those are asked. Default: all. */
  hasDescribed?: (id: string) => boolean;
  /** Up to this many members, this node exchanges with few of them, and only for ids that are used twice. */
  directMembers?: number;
  /** Called with what should not happen. */
  report?: ((problem: string) => void) | undefined;
  random?: () => number;
  source?: ClockSource;
}

const SYSTEM: ClockSource = { nowMs: () => Date.now(), runningMs: () => performance.now() };

/**
 * Learns the state of all members from a few of them: every round this node requests from three others what they know
 * and it does not. Nobody can tell it anything that it did not request. The caller that starts it closes it.
 */
export class Gossip {
  readonly table: MemberTable;
  readonly watch: MemberWatch;
  readonly rendezvous = new Rendezvous();
  readonly #deps: GossipDeps;
  readonly #source: ClockSource;
  readonly #random: () => number;
  readonly #directMembers: number;
  readonly #abortController = new AbortController();
  readonly #mute: MuteMembers;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: () => void = () => {};
  #working = NO_WORK;
  #rounds = 0;
  #directRounds = 0;
  #known: { round: number; ids: readonly string[]; kept: Map<string, boolean> } | undefined;
  #start: { round: number; isOver: boolean } = { round: -1, isOver: false };

  constructor(deps: GossipDeps) {
    const { selfId, refreshMs, source = SYSTEM, random = Math.random, directMembers = DIRECT_MEMBERS } = deps;
    this.#deps = deps;
    this.#source = source;
    this.#random = random;
    this.#directMembers = directMembers;
    this.#mute = new MuteMembers(MUTE_REFRESHES * refreshMs);
    const run = source.nowMs();
    const freshMs = () => steadyRoundMs(refreshMs, deps.directory.members.length) * FRESH_ROUNDS;
    this.table = new MemberTable({ selfId, run, freshMs, failedMs: refreshMs });
    const { table, rendezvous } = this;
    this.watch = new MemberWatch({ ...deps, table, rendezvous, mute: this.#mute, source });
    this.#setMembers();
  }

  /** Whether there are so many members that they are not all contacted for each request. */
  get isActive(): boolean {
    return this.#deps.directory.members.length > this.#directMembers;
  }

  /** Whether this node keeps a snapshot of the member: in a large cluster, if it is one of its neighbours. */
  keeps(id: string): boolean {
    if (!this.isActive) return true;
    if (this.#isStarting) return false;
    const { ids, kept } = this.#participants;
    const known = kept.get(id);
    if (known !== undefined) return known;
    const isKept = this.rendezvous.rank(id, this.#deps.selfId, ids) >= 0;
    kept.set(id, isKept);
    return isKept;
  }

  /** Where snapshots of a member are looked for: its neighbours, and those that were until others joined. Best first. */
  keepersOf(id: string): string[] {
    return this.rendezvous.neighbours(id, this.#participants.ids, 2 * NEIGHBOURS);
  }

  /** The time of day at which a member was last heard of; `undefined` if it never was. */
  lastSeenMs(id: string): number | undefined {
    const { aliveMs = -Infinity } = this.table.get(id) ?? {};
    return Number.isFinite(aliveMs) ? Math.round(this.#source.nowMs() - (this.nowMs - aliveMs)) : undefined;
  }

  /** By the clock of all times in the table. */
  get nowMs(): number {
    return this.#source.runningMs();
  }

  /** Does not keep the process alive. */
  start(): void {
    this.#unsubscribe = this.#deps.directory.onChange(() => this.#setMembers());
    const next = () => {
      if (this.#abortController.signal.aborted) return;
      const waitMs = this.#roundMs * (0.75 + this.#random() / 2);
      this.#timer = setTimeout(() => {
        this.#working = owned(this.round().finally(next), (error) =>
          this.#deps.report?.(`a round of gossip failed: ${errorMessage(error)}`),
        );
      }, waitMs).unref();
    };
    next();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#unsubscribe();
    this.#abortController.abort();
    await this.watch.close();
    await this.#working;
  }

  /** What this node knows and the sender does not. Throws PARAMETER_INVALID. */
  async respond(request: ExchangeRequest): Promise<ExchangeResponse> {
    const have = readDigest(request);
    // Nobody uses samples of a small cluster.
    const sampling = this.isActive ? this.watch.sampleSelf() : Promise.resolve();
    if (this.isActive && this.table.get(this.#deps.selfId)?.sample === undefined)
      await withDeadline(() => sampling, { timeoutMs: OWN_SAMPLE_MS }).catch(() => {}); // it is sent with the next
    this.#beat();
    return this.table.respond(have, this.nowMs);
  }

  /** Requests news from a few members, and looks at those that depend on this node. Never rejects because of a member. */
  async round(): Promise<void> {
    if (!this.isActive) return this.#directRound();
    this.#rounds++;
    this.#beat();
    void this.watch.sampleSelf();
    let left = EXCHANGES;
    for (const peer of this.#chooseTargets()) {
      if (left === 0 || this.#abortController.signal.aborted) break;
      if (await this.exchange(peer)) left--;
    }
    await Promise.all([this.watch.checkFailed(), this.watch.sampleMute(this.#roundMs)]);
  }

  /** Requests what a member knows; returns whether it responded. */
  async exchange(peer: RegisteredPeer): Promise<boolean> {
    const { timeoutMs, directory } = this.#deps;
    const { table } = this;
    const { id } = peer.member;
    const sentMs = this.nowMs;
    try {
      const send = async (signal: AbortSignal) => peer.knowledge?.exchange?.(table.digest(), { signal });
      const response = readExchange(await withDeadline(send, { timeoutMs, signal: this.#abortController.signal }));
      const nowMs = this.nowMs;
      const renewed = table.merge(response, { from: id, sentMs, nowMs });
      table.heard(id, { atMs: sentMs, slackMs: nowMs - sentMs });
      // In a small cluster this node measures clocks itself: what it did not hear itself says nothing.
      if (this.isActive) for (const each of renewed) this.watch.learnClock(each);
      for (const { id: of, sample } of response.entries)
        directory.learn(of, { ...sample, role: sample.role ?? undefined });
      this.#mute.delete(id);
      return true;
    } catch (error) {
      if (!this.#abortController.signal.aborted) this.#noteFailure(peer, error);
      return false;
    }
  }

  /** All members are contacted anyway; only what they know of the id of this node comes from exchanges. */
  async #directRound(): Promise<void> {
    this.#directRounds++;
    if (this.#directRounds % DIRECT_ROUNDS !== 0) return;
    this.#beat();
    const [peer] = this.#chooseTargets();
    if (peer) await this.exchange(peer);
  }

  #noteFailure({ member }: RegisteredPeer, error: unknown): void {
    const { outcome, detail } = toOutcome(error);
    if (ABSENT.has(outcome)) this.table.failed(member.id, { atMs: this.nowMs, outcome, detail });
    // It responds, but not to this. A member that is stopping is asked again.
    else if (outcome !== 'failed') this.#mute.add(member, this.nowMs);
  }

  get #roundMs(): number {
    const { refreshMs, directory } = this.#deps;
    const firstMs = this.isActive && this.#isStarting ? FIRST_ROUND_MS : Infinity;
    return Math.min(steadyRoundMs(refreshMs, directory.members.length), firstMs);
  }

  /** The same for all calls in a round, and from round to round while they are the same: each member is asked for often. */
  get #participants(): { ids: readonly string[]; kept: Map<string, boolean> } {
    const before = this.#known;
    if (before?.round === this.#rounds) return before;
    const ids = this.watch.participants();
    const isSame = before?.ids.length === ids.length && ids.every((id, index) => id === before.ids[index]);
    this.#known = isSame && before ? { ...before, round: this.#rounds } : { round: this.#rounds, ids, kept: new Map() };
    return this.#known;
  }

  /** Until most members are known. Looks at all of them, but once in a round while it is so. */
  get #isStarting(): boolean {
    if (!this.#start.isOver && this.#start.round !== this.#rounds) {
      const isOver = this.#rounds >= FIRST_ROUNDS || this.#knownShare >= MOST;
      this.#start = { round: this.#rounds, isOver };
    }
    return !this.#start.isOver;
  }

  get #knownShare(): number {
    let [known, all] = [0, 0];
    for (const { sample } of this.table.rows()) {
      all++;
      if (sample !== undefined) known++;
    }
    return known / all;
  }

  #setMembers(): void {
    const ids = this.#deps.directory.members.map(({ id }) => id);
    const known = new Set(ids);
    this.table.setMembers(ids);
    this.rendezvous.keepOnly(known);
    this.#mute.keepOnly(known);
  }

  #beat(): void {
    this.table.beat({ nowMs: this.nowMs, clockMs: this.#source.nowMs() });
  }

  /** Members to exchange with, in random order. Those that do not take part are left out; in a large cluster, those that failed. */
  #chooseTargets(): RegisteredPeer[] {
    const { nowMs } = this;
    const { hasDescribed = () => true } = this.#deps;
    const all = this.#deps.peers.all().filter(({ member }) => {
      const row = this.table.get(member.id);
      const isLeftOut = row?.isSampled || (this.isActive ? row?.failure !== undefined : !hasDescribed(member.id));
      return !member.isSelf && !isLeftOut && !this.#mute.has(member, nowMs);
    });
    const chosen: RegisteredPeer[] = [];
    while (chosen.length < MAX_TRIES && all.length > 0)
      chosen.push(...all.splice(Math.floor(this.#random() * all.length), 1));
    return chosen;
  }
}

/** The time between rounds once most members are known. */
export function steadyRoundMs(refreshMs: number, memberCount: number): number {
  return Math.min(Math.max(refreshMs / ROUNDS, memberCount * ROUND_MS_EACH), refreshMs / LEAST_ROUNDS);
}
