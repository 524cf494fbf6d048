import { PortholeError, type RouteRole } from '@porthole/contract';
import type { Credentials } from './access.ts';

/** How long a revoked or expired token stays valid for a running response. A check costs microseconds. */
const INTERVAL_MS = 1000;

/** Ends a follow whose credentials are no longer valid. */
export class CredentialsEnded extends PortholeError {}

/** A response that does not end by itself. */
export interface OpenSession {
  credentials: Credentials;
  wanted: RouteRole;
  end(reason: CredentialsEnded): void;
}

/** Periodically checks whether the clients of open sessions would still be admitted. */
export class SessionRevalidation {
  readonly #sessions = new Set<OpenSession>();
  readonly #revalidate: (session: OpenSession) => Promise<CredentialsEnded | undefined>;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  /** `revalidate` returns why a session must end; if it throws, the session continues. */
  constructor(revalidate: (session: OpenSession) => Promise<CredentialsEnded | undefined>) {
    this.#revalidate = revalidate;
  }

  /** Returns a function to call when the session has ended. */
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

  /** One run at a time: fetching JWT keys may take long. */
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
    // A failing check, as of keys that cannot be fetched, must not end all follows; the next one is a second later.
    const reason = await this.#revalidate(session).catch(() => undefined);
    if (!reason || !this.#sessions.has(session)) return;
    this.#forget(session);
    session.end(reason);
  }
}
