import type { Socket } from 'node:net';
import { mayUse, PortholeError, type RouteRole } from '@porthole/contract';
import { type Authenticate, type AuthenticateRequest, askProgram } from './authenticate-hook.ts';
import type { CertificateCheck } from './certificate-check.ts';
import { ANONYMOUS, type AuthResult, clientNetwork, type Identity } from './identity.ts';
import { JwtCheck } from './jwt-check.ts';
import { hashSecret, isSameHash, isSameText, type TokenCheck } from './tokens.ts';

const NOT_KNOWN = 'the token is not known to this node';

/** Fails closed: a client that cannot be identified is refused, and counts as a failed attempt. */
const NOT_CHECKED = 'the credentials could not be checked';

const PROGRAM_FAILED = 'the service that this node is a part of failed to check who sent this request';

/** Every client gets this while no credentials are required. */
const UNGUARDED: AuthResult = { identity: ANONYMOUS };

/** The credentials of a request. */
export interface Credentials {
  authorization: string | undefined;
  /** `undefined` if it is already closed. */
  socket: Socket | undefined;
  address: string;
  /** The request, for the program that embeds the node. */
  describe?(): AuthenticateRequest;
}

/** The configured kinds of credentials. Tokens are read through a function because their file may be reloaded. */
interface AccessDeps {
  tokens?: (() => TokenCheck) | undefined;
  jwt?: JwtCheck | undefined;
  certificates?: CertificateCheck | undefined;
  /** The current cluster token. */
  memberToken?: (() => string | undefined) | undefined;
  /** The program that embeds the node identifies clients without credentials of the node. */
  authenticate?: Authenticate | undefined;
  /** Counts a failed attempt and throws if there were too many. */
  countFailure(address: string): void;
  /** Called with unexpected errors during authentication. */
  onError?(error: unknown): void;
}

/** Authentication and authorization, shared by HTTP and gRPC. */
export class Access {
  readonly #deps: AccessDeps;
  /** Whether credentials are required. */
  readonly isGuarded: boolean;
  readonly #tokenCache = new TokenCache();
  readonly #sessions = new SessionRevalidation(
    (session) => this.#revalidate(session),
    (error) => this.#deps.onError?.(error),
  );
  #failures = 0;

  constructor(deps: AccessDeps) {
    this.#deps = deps;
    const { tokens, jwt, certificates, authenticate } = deps;
    this.isGuarded = [tokens, jwt, certificates, authenticate].some((kind) => kind !== undefined);
  }

  /** Requests without valid credentials since the start. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Authenticates a request. Returns a promise only for a JWT that is not cached, and if the program that embeds the node is
   * asked; all else is synchronous. Never throws: any error is a refusal.
   */
  authenticate(credentials: Credentials): AuthResult | Promise<AuthResult> {
    if (!this.isGuarded) return UNGUARDED;
    const refuse = (error: unknown): AuthResult => {
      this.#deps.onError?.(error);
      return { refusal: NOT_CHECKED };
    };
    try {
      const found = this.#authenticate(credentials);
      const own = found instanceof Promise ? found.catch(refuse) : found;
      if (!this.#deps.authenticate || (!(own instanceof Promise) && 'identity' in own)) return own;
      return this.#orProgram(own, credentials);
    } catch (error) {
      return refuse(error);
    }
  }

  /** Whoever the node itself does not know may be known to the program that embeds it. */
  async #orProgram(own: AuthResult | Promise<AuthResult>, { describe }: Credentials): Promise<AuthResult> {
    const found = await own;
    const { authenticate } = this.#deps;
    if ('identity' in found || !authenticate || !describe) return found;
    try {
      return await askProgram(authenticate, describe());
    } catch (error) {
      this.#deps.onError?.(error);
      return { isUnknown: true };
    }
  }

  #authenticate({ authorization, socket }: Credentials): AuthResult | Promise<AuthResult> {
    const { tokens, jwt, certificates } = this.#deps;
    // A wrong token is refused even with a valid certificate: a client that sends one means it.
    if (authorization !== undefined && (tokens || jwt)) return this.#authenticateBearer(authorization, socket);
    return (socket && certificates?.check(socket)) ?? { refusal: '' };
  }

  /** Returns the identity, or throws the error for the client. `where` describes how to send a token over this transport. */
  authorize(
    verdict: AuthResult,
    wanted: RouteRole,
    { credentials, where }: { credentials: Credentials; where: string },
  ): Identity | undefined {
    if ('isUnknown' in verdict) {
      if (wanted === 'none') return undefined;
      throw new PortholeError('AUTH_UNAVAILABLE', PROGRAM_FAILED);
    }
    if ('refusal' in verdict) {
      if (wanted === 'none') return undefined;
      this.#failures++;
      this.#deps.countFailure(credentials.address);
      throw new PortholeError('UNAUTHENTICATED', verdict.refusal || this.#expectedCredentials(where));
    }
    const { identity } = verdict;
    if (mayUse(identity.roles, wanted)) return identity;
    throw new PortholeError('FORBIDDEN', describeMissingRole(identity, wanted));
  }

  /** Revocation lists have changed: clients with certificates must reconnect. */
  renewRevocations(): void {
    this.#deps.certificates?.renewLists();
  }

  /**
   * For a response that does not end by itself: `end` is called when its client would no longer be admitted. Returns a
   * function to call when the response has ended.
   */
  watchSession(session: OpenSession): () => void {
    return this.isGuarded ? this.#sessions.add(session) : () => {};
  }

  async #revalidate({ credentials, wanted }: OpenSession): Promise<CredentialsEnded | undefined> {
    const verdict = await this.authenticate(credentials);
    if ('isUnknown' in verdict) return new CredentialsEnded('AUTH_UNAVAILABLE', PROGRAM_FAILED);
    if ('refusal' in verdict) return new CredentialsEnded('UNAUTHENTICATED', verdict.refusal || NOT_KNOWN);
    const { identity } = verdict;
    return mayUse(identity.roles, wanted)
      ? undefined
      : new CredentialsEnded('FORBIDDEN', describeMissingRole(identity, wanted));
  }

  #authenticateBearer(authorization: string, socket: Socket | undefined): AuthResult | Promise<AuthResult> {
    const { jwt } = this.#deps;
    const tokens = this.#deps.tokens?.();
    const presented = tokens && socket && { authorization, tokens };
    const cached = presented && this.#tokenCache.get(socket, presented);
    if (cached) return { identity: cached };
    const token = bearerToken(authorization);
    if (token === undefined) return { refusal: NOT_KNOWN };
    const hash = hashSecret(token);
    const owner = this.#asMember(tokens?.findOwner(hash), hash);
    if (owner && presented) this.#tokenCache.set(socket, presented, owner);
    const identity = owner ?? jwt?.known(hash);
    if (identity) return { identity };
    return jwt && JwtCheck.isJwt(token) ? jwt.check(token, hash) : { refusal: NOT_KNOWN };
  }

  /** Members use the same cluster token as this node. */
  #asMember(owner: Identity | undefined, shown: Buffer): Identity | undefined {
    const token = this.#deps.memberToken?.();
    if (!owner || token === undefined || !isSameHash(hashSecret(token), shown)) return owner;
    return { ...owner, isMember: true };
  }

  #expectedCredentials(where: string): string {
    const { tokens, jwt, certificates } = this.#deps;
    if (!tokens && !jwt) return 'this node needs a client certificate of an authority it trusts';
    const certificate = certificates ? ', or use a client certificate' : '';
    return `this node needs a token: send ${where}${certificate}`;
  }
}

function describeMissingRole(identity: Identity, wanted: RouteRole): string {
  const known = `you are known as ${JSON.stringify(identity.name)} with ${rolesText(identity)}`;
  return `this needs the role "${wanted}"; ${known}`;
}

function rolesText({ roles }: Identity): string {
  if (roles.length === 0) return 'no role';
  return `the ${roles.length === 1 ? 'role' : 'roles'} ${roles.map((role) => `"${role}"`).join(' and ')}`;
}

/** The token of an `Authorization` header; `undefined` if there is no bearer token. */
export function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header)?.[1];
}

/** A token as it was sent, and the token file it was checked against: a reloaded file is another object. */
interface PresentedToken {
  authorization: string;
  tokens: TokenCheck;
}

/**
 * Caches the last valid token of each connection, so that most requests need no hash: it took 3 % of the time of a small
 * response. An entry is valid only for the same token file and the same connection. A proxy may send requests of many
 * clients over one connection: none of them must be able to find out what another one has sent. JWTs are not cached here
 * because they expire.
 */
export class TokenCache {
  readonly #last = new WeakMap<Socket, PresentedToken & { identity: Identity }>();

  /** The owner, if it is the last valid token of this connection. */
  get(socket: Socket, { authorization, tokens }: PresentedToken): Identity | undefined {
    const last = this.#last.get(socket);
    return last?.tokens === tokens && isSameText(last.authorization, authorization) ? last.identity : undefined;
  }

  set(socket: Socket, { authorization, tokens }: PresentedToken, identity: Identity): void {
    this.#last.set(socket, { authorization, tokens, identity });
  }
}

/** How long a revoked or expired token stays valid for a running response. A check costs microseconds. */
const INTERVAL_MS = 1000;

/**
 * A session ends when its client could not be checked this often in a row: a session store that restarts must not end all
 * follows, and nobody may read on for long without being known.
 */
const GRACE_CHECKS = 5;

const UNCONFIRMED = 'the credentials of this follow could not be checked for several seconds';

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
        this.#end(session, new CredentialsEnded('AUTH_UNAVAILABLE', UNCONFIRMED));
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

const MINUTE_MS = 60_000;

/** Maximum number of tracked networks; the one that failed first is evicted. */
const MAX_NETWORKS = 10_000;

/** The error for clients that fail to authenticate too often. */
export class TooManyFailures extends PortholeError {
  readonly retryAfterSeconds: number;
  /** The first one of this minute: only that one is logged, so that a flood does not fill the access log. */
  readonly isFirst: boolean;

  constructor(perMinute: number, { retryAfterSeconds, isFirst }: { retryAfterSeconds: number; isFirst: boolean }) {
    const message = `more than ${perMinute} requests a minute without valid credentials from one address (IPv6: one /64); see auth.max-failures-per-minute`;
    super('RATE_LIMITED', message);
    this.retryAfterSeconds = retryAfterSeconds;
    this.isFirst = isFirst;
  }
}

/**
 * Counts failed attempts of a client; throws if there were more in a minute than allowed. 0 means no limit. `now` must be
 * monotonic.
 */
export function createFailureLimit(
  perMinute: number,
  now: () => number = () => performance.now(),
): (address: string) => void {
  if (perMinute === 0) return () => {};
  const networks = new Map<string, { failures: number; sinceMs: number }>();
  return (address) => {
    const network = clientNetwork(address);
    const timeMs = now();
    let seen = networks.get(network);
    if (!seen || timeMs - seen.sinceMs >= MINUTE_MS) {
      networks.delete(network); // inserted anew as the newest
      seen = { failures: 0, sinceMs: timeMs };
      networks.set(network, seen);
      if (networks.size > MAX_NETWORKS) networks.delete(networks.keys().next().value ?? '');
    }
    seen.failures++;
    if (seen.failures <= perMinute) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((seen.sinceMs + MINUTE_MS - timeMs) / 1000));
    throw new TooManyFailures(perMinute, { retryAfterSeconds, isFirst: seen.failures === perMinute + 1 });
  };
}
