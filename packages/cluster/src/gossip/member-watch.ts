import { Shared } from '@porthole/logs/shared';
import { inParallel, withDeadline } from '../fan-out/bounded-calls.ts';
import type { ClockSource, ClockTable } from '../fan-out/clock.ts';
import { toOutcome } from '../fan-out/member-failure.ts';
import type { Peers, RegisteredPeer } from '../fan-out/peers.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import { type Inspection, toSample } from '../state/inspect-member.ts';
import type { MemberTable } from './member-table.ts';
import type { MuteMembers } from './mute-members.ts';
import type { Rendezvous } from './rendezvous.ts';

/** Minimum time per member that does not take part: looking at a thousand of them must cost next to nothing. */
const EACH_SAMPLE_MS = 300;
const SAMPLED_AT_ONCE = 4;

/** Members that failed are checked in the background for this long after somebody asked for the state of members. */
const INTEREST_MS = 5 * 60_000;
const CHECKED_AT_ONCE = 4;

/** The route, as nodes list it among their capabilities. */
const EXCHANGE_ROUTE = 'clusterExchange';

export interface MemberWatchDeps {
  table: MemberTable;
  rendezvous: Rendezvous;
  mute: MuteMembers;
  peers: Pick<Peers, 'all'>;
  directory: Pick<MemberDirectory, 'learn'>;
  selfId: string;
  clocks: Pick<ClockTable, 'learn'>;
  /** Looks at a member, this node included. */
  inspect(peer: RegisteredPeer, options: { signal: AbortSignal; timeoutMs: number }): Promise<Inspection>;
  refreshMs: number;
  timeoutMs: number;
  source: ClockSource;
}

export interface NoteOptions {
  /** When the request was sent. */
  atMs: number;
  /** This node looks after the member, which does not take part. Default: if it is the first of its neighbours. */
  isSampler?: boolean;
}

/** Looks at this node, at members that do not take part, and at those that failed. */
export class MemberWatch {
  readonly #deps: MemberWatchDeps;
  readonly #abortController = new AbortController();
  readonly #checkedMs = new Map<string, number>();
  readonly #sampling = new Shared<void>();
  #askedMs = -Infinity;

  constructor(deps: MemberWatchDeps) {
    this.#deps = deps;
  }

  /** Somebody asked for the state of members. */
  noteInterest(): void {
    this.#askedMs = this.#nowMs;
  }

  /** Members that take part, this node included: they look after the others. Unordered. */
  participants(): string[] {
    const ids: string[] = [];
    for (const { id, run, isSampled } of this.#deps.table.rows()) if (run > 0 && !isSampled) ids.push(id);
    return ids;
  }

  /** What a look at a member showed: for this node, and for all if it looks after the member. */
  note({ member }: RegisteredPeer, inspection: Inspection, options: NoteOptions): void {
    const { atMs, isSampler = this.#rank(member.id, this.participants()) === 0 } = options;
    const { table, mute, source, directory } = this.#deps;
    const { clockMs, tripMs, capabilities, role, labels, facts } = inspection;
    if (!member.isSelf) directory.learn(member.id, { role: role ?? undefined, labels, node: facts.node });
    const isMute = !capabilities.includes(EXCHANGE_ROUTE);
    if (isMute) mute.add(member, this.#nowMs);
    const sample = toSample(inspection, source.nowMs());
    const heard = { atMs, slackMs: tripMs, clockMs, isSampler: isMute && isSampler };
    table.heard(member.id, { ...heard, ...(sample && { sample }) });
    this.learnClock(member.id);
  }

  learnClock(id: string): void {
    const { clockMs = 0, aliveMs = 0, slackMs = 0 } = this.#deps.table.get(id) ?? {};
    const halfMs = slackMs / 2;
    if (clockMs > 0) this.#deps.clocks.learn(id, { clockMs, takenMs: aliveMs + halfMs, uncertaintyMs: halfMs });
  }

  /** Renews the sample of this node if it is old. Never rejects: the others see that it is old. */
  sampleSelf(): Promise<void> {
    const { table, selfId, refreshMs, peers, source } = this.#deps;
    const atMs = this.#nowMs;
    const { sample } = table.get(selfId) ?? {};
    if (sample && atMs - sample.atMs < refreshMs) return Promise.resolve();
    const renew = async () => {
      const self = peers.all().find(({ member }) => member.isSelf);
      const inspection = self && (await this.#inspect(self));
      const value = inspection && toSample(inspection, source.nowMs());
      if (value) table.publish(value, atMs);
    };
    return this.#sampling.run(renew);
  }

  /** Checks a few members that failed, so that the list of nodes does not wait for them, while somebody looks at it. */
  async checkFailed(): Promise<void> {
    const { table, peers, refreshMs } = this.#deps;
    const nowMs = this.#nowMs;
    for (const id of this.#checkedMs.keys()) if (!table.get(id)?.failure) this.#checkedMs.delete(id);
    if (nowMs - this.#askedMs > INTEREST_MS) return;
    const isDue = ({ member: { id } }: RegisteredPeer) =>
      table.get(id)?.failure !== undefined && nowMs - (this.#checkedMs.get(id) ?? -Infinity) > refreshMs / 2;
    const due = peers.all().filter(isDue).slice(0, CHECKED_AT_ONCE);
    await Promise.all(due.map((peer) => this.#look(peer)));
  }

  /**
   * Looks at members that do not take part, if this node is their first neighbour, or those before it have not for a
   * while. `roundMs`: the time until the next call.
   */
  async sampleMute(roundMs: number): Promise<void> {
    const { table, mute, peers, refreshMs } = this.#deps;
    const nowMs = this.#nowMs;
    const participants = this.participants();
    const due: { peer: RegisteredPeer; ageMs: number }[] = [];
    for (const peer of peers.all()) {
      const row = table.get(peer.member.id);
      if (row?.failure || !(row?.isSampled || mute.has(peer.member, nowMs))) continue;
      const ageMs = nowMs - (row?.sample?.atMs ?? -Infinity);
      const rank = this.#rank(peer.member.id, participants);
      if (rank >= 0 && ageMs > refreshMs * (1 + rank)) due.push({ peer, ageMs });
    }
    const oldest = due.sort((a, b) => b.ageMs - a.ageMs).slice(0, Math.max(1, Math.floor(roundMs / EACH_SAMPLE_MS)));
    await inParallel(oldest, SAMPLED_AT_ONCE, ({ peer }) => this.#look(peer, { isSampler: true }));
  }

  async close(): Promise<void> {
    this.#abortController.abort();
    await this.#sampling.last();
  }

  get #nowMs(): number {
    return this.#deps.source.runningMs();
  }

  #rank(id: string, participants: readonly string[]): number {
    return this.#deps.rendezvous.rank(id, this.#deps.selfId, participants);
  }

  async #look(peer: RegisteredPeer, options: Pick<NoteOptions, 'isSampler'> = {}): Promise<void> {
    if (this.#abortController.signal.aborted) return;
    const atMs = this.#nowMs;
    this.#checkedMs.set(peer.member.id, atMs);
    const inspection = await this.#inspect(peer);
    if (inspection) this.note(peer, inspection, { atMs, ...options });
  }

  /** `undefined` if it fails, which is noted. */
  async #inspect(peer: RegisteredPeer): Promise<Inspection | undefined> {
    const { table, inspect, timeoutMs } = this.#deps;
    const { signal } = this.#abortController;
    try {
      return await withDeadline((leaving) => inspect(peer, { signal: leaving, timeoutMs }), { timeoutMs, signal });
    } catch (error) {
      if (!signal.aborted) table.failed(peer.member.id, { atMs: this.#nowMs, ...toOutcome(error) });
      return undefined;
    }
  }
}
