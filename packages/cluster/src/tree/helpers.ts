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
  /** Monotonic. */
  nowMs?: () => number;
}

/** Chooses helpers, and remembers which members failed as one. */
export class Helpers {
  readonly #random: () => number;
  readonly #nowMs: () => number;
  /** Until when a member is not chosen. */
  readonly #avoided = new Map<string, number>();

  constructor({ random = Math.random, nowMs = () => performance.now() }: HelpersOptions = {}) {
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** The members to try, in this order; none if all of them failed lately. */
  choose<T extends Peer>(group: readonly T[]): T[] {
    const nowMs = this.#nowMs();
    const able = group.filter(({ member, transport }) => {
      return transport !== undefined && (this.#avoided.get(member.id) ?? -Infinity) <= nowMs;
    });
    const chosen: T[] = [];
    while (able.length > 0 && chosen.length < MAX_ATTEMPTS)
      chosen.push(...able.splice(Math.floor(this.#random() * able.length), 1));
    return chosen;
  }

  /** `isUnable`: it does not know groups. */
  avoid(id: string, { isUnable }: { isUnable: boolean }): void {
    if (this.#avoided.size >= MAX_REMEMBERED) this.#avoided.clear();
    this.#avoided.set(id, this.#nowMs() + (isUnable ? UNABLE_MS : FAILED_MS));
  }
}
