import type { CallOptions } from '@porthole/contract';
import type { MemberDirectory } from '../membership/member-directory.ts';
import { inParallel, withDeadline } from '../requests/bounded-calls.ts';
import type { ClockTable } from './clock.ts';
import type { Peers } from './peers.ts';

/** Fraction of the timeout for discovering the role: the request itself needs the rest. */
const SHARE = 0.4;

const AT_ONCE = 16;

export interface RoleDiscoveryDeps {
  peers: Peers;
  clocks: Pick<ClockTable, 'measure'>;
  directory: Pick<MemberDirectory, 'strangers'>;
  timeoutMs: number;
  /** A member that did not respond is not tried again before this. */
  againMs: number;
}

/** Members of a static list are known by address only: their role is fetched before it is needed. */
export class RoleDiscovery {
  readonly #deps: RoleDiscoveryDeps;
  readonly #triedMs = new Map<string, number>();

  constructor(deps: RoleDiscoveryDeps) {
    this.#deps = deps;
  }

  /** Resolves when all roles are known or the time is up. Never rejects because of a member. */
  async run({ signal }: CallOptions = {}): Promise<void> {
    const { directory, againMs } = this.#deps;
    const nowMs = performance.now();
    const unknown = directory.strangers;
    const ids = new Set(unknown.map(({ id }) => id));
    for (const id of this.#triedMs.keys()) if (!ids.has(id)) this.#triedMs.delete(id);
    const strangers = unknown.filter(({ id }) => nowMs - (this.#triedMs.get(id) ?? -Infinity) >= againMs);
    await inParallel(strangers, AT_ONCE, async ({ id }) => {
      this.#triedMs.set(id, nowMs);
      await this.#describe(id, signal);
    });
    signal?.throwIfAborted();
  }

  async #describe(id: string, signal: AbortSignal | undefined): Promise<void> {
    const { peers, clocks, timeoutMs } = this.#deps;
    const deadline = { timeoutMs: timeoutMs * SHARE, ...(signal && { signal }) };
    const measure = async (leaving: AbortSignal) => clocks.measure(peers.get(id), { signal: leaving });
    // A contract-only member has its role by then. Other failures are reported by the request that follows.
    await withDeadline<unknown>(measure, deadline).catch(() => {});
  }
}
