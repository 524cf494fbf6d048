import type { Peer } from '../fan-out/peers.ts';

/** How long a member that failed as a helper is not chosen. */
const FAILED_MS = 30_000;

/** The same for one that cannot be a helper: older, or contract-only. */
const UNABLE_MS = 10 * 60_000;

/** Remembered failures. */
const MAX_REMEMBERED = 10_000;

/** Helpers that are tried for a group before its members are asked directly. */
const MAX_ATTEMPTS = 2;

export interface HelpersOptions {
  /** From 0 to 1; to spread the work over all members. */
  random?: () => number;
  /** Whether there was a recent sign of life of a member: such members are chosen first. Default: of all. */
  isFresh?: (id: string) => boolean;
  /** Monotonic. */
  nowMs?: () => number;
}

/** Chooses helpers, and remembers which members failed as one. */
export class Helpers {
  readonly #random: () => number;
  readonly #isFresh: (id: string) => boolean;
  readonly #nowMs: () => number;
  /** Until when a member is not chosen. */
  readonly #avoided = new Map<string, number>();

  constructor({ random = Math.random, isFresh = () => true, nowMs = () => performance.now() }: HelpersOptions = {}) {
    this.#random = random;
    this.#isFresh = isFresh;
    this.#nowMs = nowMs;
  }

  /**
   * The members to try, in this order; none if all of them failed lately. Chosen by chance, so that questions are spread over
   * all members, but first among those that were heard of lately.
   */
  choose<T extends Peer>(group: readonly T[]): T[] {
    const nowMs = this.#nowMs();
    const able = group.filter(({ member, transport }) => {
      return transport !== undefined && (this.#avoided.get(member.id) ?? -Infinity) <= nowMs;
    });
    const fresh: T[] = [];
    const others: T[] = [];
    for (const peer of able) (this.#isFresh(peer.member.id) ? fresh : others).push(peer);
    const chosen: T[] = [];
    for (const from of [fresh, others])
      while (from.length > 0 && chosen.length < MAX_ATTEMPTS)
        chosen.push(...from.splice(Math.floor(this.#random() * from.length), 1));
    return chosen;
  }

  /** `isUnable`: it does not know groups. */
  avoid(id: string, { isUnable }: { isUnable: boolean }): void {
    if (this.#avoided.size >= MAX_REMEMBERED) this.#avoided.clear();
    this.#avoided.set(id, this.#nowMs() + (isUnable ? UNABLE_MS : FAILED_MS));
  }
}
