import { PortholeError, type RouteRole } from '@porthole/contract';
import type { Visitor } from './access.ts';

/** How long a token that was withdrawn, or has ended, still counts for an answer under way. A look costs microseconds. */
const LOOK_MS = 1000;

/** Told to who follows: what they have shown counts no longer. */
export class CredentialsEnded extends PortholeError {}

/** Someone whose answer does not end by itself. */
export interface Visit {
  visitor: Visitor;
  wanted: RouteRole;
  end(reason: CredentialsEnded): void;
}

/** Looks now and then whether those who were let in for long would still be let in. */
export class StandingVisits {
  readonly #visits = new Set<Visit>();
  readonly #judge: (visit: Visit) => Promise<CredentialsEnded | undefined>;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  /** `judge` says why a visit has to end; what it throws leaves it as it is. */
  constructor(judge: (visit: Visit) => Promise<CredentialsEnded | undefined>) {
    this.#judge = judge;
  }

  /** Returns what is to be called when the visit is over. */
  add(visit: Visit): () => void {
    this.#visits.add(visit);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    return () => this.#forget(visit);
  }

  #forget(visit: Visit): void {
    this.#visits.delete(visit);
    if (this.#visits.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** One look at a time: keys of JWTs may be long in coming. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      await Promise.all([...this.#visits].map((visit) => this.#lookAt(visit)));
    } finally {
      this.#looking = false;
    }
  }

  async #lookAt(visit: Visit): Promise<void> {
    const reason = await this.#judge(visit).catch(() => undefined);
    if (!reason || !this.#visits.has(visit)) return;
    this.#forget(visit);
    visit.end(reason);
  }
}
