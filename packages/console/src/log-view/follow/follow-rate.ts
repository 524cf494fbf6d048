/** The rate is that of so many whole seconds. */
const SECONDS = 5;

/** How many records come per second. */
export class FollowRate {
  readonly #counts = new Map<number, number>();

  note(count: number, nowMs: number): void {
    if (count === 0) return;
    const second = Math.floor(nowMs / 1000);
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + count);
    this.#forgetBefore(second - SECONDS);
  }

  perSecond(nowMs: number): number {
    this.#forgetBefore(Math.floor(nowMs / 1000) - SECONDS);
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return Math.round((sum / SECONDS) * 10) / 10;
  }

  #forgetBefore(second: number): void {
    for (const known of this.#counts.keys()) if (known <= second) this.#counts.delete(known);
  }
}
