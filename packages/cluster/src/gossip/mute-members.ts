import type { Member } from '@porthole/contract';

/** Members that do not take part in exchanges: contract-only, of an earlier version, or without the permission. */
export class MuteMembers {
  readonly #againMs: number;
  readonly #known = new Map<string, { sinceMs: number; onlineTime: number }>();

  /** `againMs`: they are tried again after this, as they may have been upgraded without anybody noticing. */
  constructor(againMs: number) {
    this.#againMs = againMs;
  }

  add({ id, node }: Member, nowMs: number): void {
    this.#known.set(id, { sinceMs: nowMs, onlineTime: node.onlineTime });
  }

  delete(id: string): void {
    this.#known.delete(id);
  }

  /** Whether this run of it does not take part. */
  has({ id, node }: Member, nowMs: number): boolean {
    const mute = this.#known.get(id);
    if (!mute) return false;
    if (mute.onlineTime === node.onlineTime && nowMs - mute.sinceMs < this.#againMs) return true;
    this.#known.delete(id);
    return false;
  }

  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }
}
