import { setTimeout as sleep } from 'node:timers/promises';
import { type CallOptions, codeOf, MEMBER_HEARTBEAT_MS, type Member } from '@porthole/contract';
import { type Owned, owned } from '@porthole/logs/shared';
import { MemberSigns, type MemberSignsDeps } from '../membership/member-signs.ts';
import type { Membership } from '../membership/membership.ts';
import { CONTRACT_ROLE } from '../membership/static-members.ts';
import { withDeadline } from '../requests/bounded-calls.ts';
import type { Peers } from './peers.ts';

/**
 * Members that each node contacts: those that follow it by id. In a cluster of up to nine each node contacts all others; in a
 * larger one each is contacted by eight, whatever its size.
 */
const CONTACTED = 8;

/** Between two follows of a member, and before one that failed is tried again. */
const PAUSE_MS = 1000;
const FAILED_PAUSE_MS = 30_000;

/** Where events about members are written, and those that were. */
export type MemberEvents = Required<Pick<MemberSignsDeps, 'write' | 'past'>>;

export interface MemberWatchDeps {
  membership: Membership;
  peers(): Pick<Peers, 'get'>;
  selfId: string;
  /** Absent: nothing is written. */
  events: MemberEvents | undefined;
  /** Whether this node sends events: then it writes about all members, what the registry says of those it does not contact. */
  notifies: boolean;
  report(problem: string): void;
}

/**
 * Watches the other members: whoever is listed, each contact with them, and a follow of the events of those that this node
 * contacts. That follow is quiet; it says at once that its connection was closed, and that a member stops.
 */
export class MemberWatch {
  readonly signs: MemberSigns;
  readonly #deps: MemberWatchDeps;
  readonly #follows = new Map<string, { leaving: AbortController; done: Owned }>();
  #listed = new Map<string, Member>();
  /** Whether the list was complete once: whoever appears later is new. */
  #isKnown = false;
  #unsubscribe: () => void = () => {};

  constructor(deps: MemberWatchDeps) {
    this.#deps = deps;
    const { events = { write: () => {}, past: [] }, report } = deps;
    this.signs = new MemberSigns({ ...events, report, contact: (id, options) => this.#contact(id, options) });
  }

  start(): void {
    const { membership } = this.#deps;
    this.#update();
    this.#unsubscribe = membership.onChange(() => this.#update());
    this.signs.start();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.signs.close();
    for (const { leaving } of this.#follows.values()) leaving.abort();
    await Promise.all([...this.#follows.values()].map(({ done }) => done));
  }

  #contact(id: string, { signal, timeoutMs }: CallOptions & { signal: AbortSignal; timeoutMs: number }) {
    const ping = async (leaving: AbortSignal) => (await this.#peer(id).ping?.({ signal: leaving })) ?? 0;
    return withDeadline(ping, { timeoutMs, signal });
  }

  #peer(id: string): ReturnType<Peers['get']> {
    try {
      return this.#deps.peers().get(id);
    } catch (error) {
      if (codeOf(error) !== 'MEMBER_NOT_FOUND') throw error;
      throw new Error('its registration has expired', { cause: error });
    }
  }

  #update(): void {
    const { membership } = this.#deps;
    const listed = new Map(membership.members.flatMap((member) => (member.isSelf ? [] : [[member.id, member]])));
    const contacted = this.#contacted([...listed.keys()]);
    const isLindb = membership.state.kind === 'lindb';
    for (const { id, role, node } of listed.values()) {
      const isContacted = contacted.has(id);
      const isNew = this.#isKnown && !this.#listed.has(id);
      const isSpared = isLindb || role === CONTRACT_ROLE;
      if (isContacted || this.#deps.notifies)
        this.signs.listed(id, { run: node.onlineTime, isContacted, isNew, isSpared });
      if (isContacted && !this.#follows.has(id)) this.#follow(id);
    }
    for (const [id, { node }] of this.#listed) {
      if (listed.has(id)) continue;
      const departure = membership.getDeparture?.(id);
      if (departure && departure.onlineTime === node.onlineTime) this.signs.left(id);
      else this.signs.unlisted(id);
    }
    for (const [id, { leaving }] of this.#follows)
      if (!contacted.has(id)) {
        leaving.abort();
        this.#follows.delete(id);
      }
    this.#listed = listed;
    this.#isKnown ||= membership.state.state === 'ok';
  }

  #contacted(ids: readonly string[]): Set<string> {
    const after = ids.filter((id) => id > this.#deps.selfId);
    const before = ids.filter((id) => id < this.#deps.selfId);
    return new Set([...after, ...before].slice(0, CONTACTED));
  }

  #follow(id: string): void {
    const leaving = new AbortController();
    const done = owned(this.#keepFollowing(id, leaving.signal), (error) => {
      this.#deps.report(`${id} cannot be followed: ${String(error)}`);
    });
    this.#follows.set(id, { leaving, done });
  }

  async #keepFollowing(id: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let pauseMs = PAUSE_MS;
      try {
        await this.#followOnce(id, signal);
      } catch (error) {
        // What is wrong with the member is found by contacting it. One without events is only contacted.
        if (codeOf(error) !== 'UNREACHABLE') pauseMs = FAILED_PAUSE_MS;
      }
      await sleep(pauseMs, undefined, { signal, ref: false }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /** Until the connection ends: the next one may be to another run of the member. */
  async #followOnce(id: string, signal: AbortSignal): Promise<void> {
    const { state } = this.#deps.peers().get(id);
    const how = { signal, heartbeatMs: MEMBER_HEARTBEAT_MS, gaps: 'report' } as const;
    for await (const items of state.followEvents({ start: 'end' }, how))
      for (const item of items) {
        if (item.type !== 'reconnecting' && item.type !== 'end') continue;
        if (item.type === 'reconnecting' && item.isStopping) this.signs.left(id);
        return;
      }
  }
}
