import { PortholeError, type RouteRole } from '@porthole/contract';
import type { Credentials } from './access.ts';

/** How long a token that was withdrawn, or has ended, still counts for an answer under way. A look costs microseconds. */
const INTERVAL_MS = 1000;

/** Told to who follows: what they have shown counts no longer. */
export class CredentialsEnded extends PortholeError {}

/** Someone whose answer does not end by itself. */
export interface OpenSession {
  credentials: Credentials;
  wanted: RouteRole;
  end(reason: CredentialsEnded): void;
}

/** Looks now and then whether those who were let in for long would still be let in. */
export class SessionRevalidation {
  readonly #sessions = new Set<OpenSession>();
  readonly #revalidate: (session: OpenSession) => Promise<CredentialsEnded | undefined>;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  /** `judge` says why a visit has to end; what it throws leaves it as it is. */
  constructor(revalidate: (session: OpenSession) => Promise<CredentialsEnded | undefined>) {
    this.#revalidate = revalidate;
  }

  /** Returns what is to be called when the visit is over. */
  add(session: OpenSession): () => void {
    this.#sessions.add(session);
    this.#timer ??= setInterval(() => void this.#checkAll(), INTERVAL_MS).unref();
    return () => this.#forget(session);
  }

  #forget(session: OpenSession): void {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** One look at a time: keys of JWTs may be long in coming. */
  async #checkAll(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      await Promise.all([...this.#sessions].map((session) => this.#check(session)));
    } finally {
      this.#isChecking = false;
    }
  }

  async #check(session: OpenSession): Promise<void> {
    const reason = await this.#revalidate(session).catch(() => undefined);
    if (!reason || !this.#sessions.has(session)) return;
    this.#forget(session);
    session.end(reason);
  }
}
