import { PortholeError, type RouteRole } from '@porthole/contract';
import type { Credentials } from './access.ts';

/** How long a revoked or expired token stays valid for a running response. A check costs microseconds. */
const INTERVAL_MS = 1000;

/**
 * A session ends when its client could not be checked this often in a row: a session store that restarts must not end all
 * follows, and nobody may read on for long without being known.
 */
const GRACE_CHECKS = 5;

const NOT_CHECKED = 'the credentials of this follow could not be checked for several seconds';

/** Ends a follow whose credentials are no longer valid. */
export class CredentialsEnded extends PortholeError {}

/** A response that does not end by itself. */
export interface OpenSession {
  credentials: Credentials;
  wanted: RouteRole;
  end(reason: CredentialsEnded): void;
}

interface WatchedSession extends OpenSession {
  isChecking: boolean;
  /** Seconds since its client was last known to be admitted. */
  unconfirmed: number;
}

/**
 * Checks every second whether the clients of open sessions would still be admitted. Each is checked for itself: whoever
 * takes long to be checked keeps nobody else's session open.
 */
export class SessionRevalidation {
  readonly #sessions = new Set<WatchedSession>();
  readonly #revalidate: (session: OpenSession) => Promise<CredentialsEnded | undefined>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;

  /** `revalidate` returns why a session must end; `AUTH_UNAVAILABLE`, and whatever it throws, means that it is not known. */
  constructor(
    revalidate: (session: OpenSession) => Promise<CredentialsEnded | undefined>,
    onError: (error: unknown) => void,
  ) {
    this.#revalidate = revalidate;
    this.#onError = onError;
  }

  /** Returns a function to call when the session has ended. */
  add(session: OpenSession): () => void {
    const watched = { ...session, isChecking: false, unconfirmed: 0 };
    this.#sessions.add(watched);
    this.#timer ??= setInterval(() => this.#checkAll(), INTERVAL_MS).unref();
    return () => this.#forget(watched);
  }

  #forget(session: WatchedSession): void {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #checkAll(): void {
    for (const session of this.#sessions) {
      if (session.unconfirmed++ >= GRACE_CHECKS)
        this.#end(session, new CredentialsEnded('AUTH_UNAVAILABLE', NOT_CHECKED));
      else if (!session.isChecking) void this.#check(session);
    }
  }

  async #check(session: WatchedSession): Promise<void> {
    session.isChecking = true;
    try {
      const reason = await this.#revalidate(session);
      if (!reason) session.unconfirmed = 0;
      else if (reason.code !== 'AUTH_UNAVAILABLE') this.#end(session, reason);
    } catch (error) {
      this.#onError(error);
    } finally {
      session.isChecking = false;
    }
  }

  #end(session: WatchedSession, reason: CredentialsEnded): void {
    if (!this.#sessions.has(session)) return;
    this.#forget(session);
    session.end(reason);
  }
}
