import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { type AuthResult, createRoleRules, type Identity } from './identity.ts';

/** Valid JWTs are cached by their hash: verifying a signature costs more than a small response. */
const MAX_KNOWN = 10_000;

/** Maximum time in the cache, so that withdrawn keys take effect. */
const KNOWN_MS = 5 * 60_000;

/** Larger tokens do not fit into the headers of most servers either. */
const MAX_TOKEN_CHARS = 8192;

const MAX_NAME_CHARS = 128;

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const NOT_KNOWN = 'the token is not known to this node';

/** A source of keys: a URL or a file. */
export interface KeySource {
  /** Returns the same object while the keys have not changed. */
  current(): Promise<JSONWebKeySet | undefined>;
  /** Called when a key was not found. */
  renew(): Promise<JSONWebKeySet | undefined>;
  /** On the monotonic clock. */
  usableUntilMs: number;
}

export interface JwtCheckOptions {
  keys: KeySource;
  issuer: string;
  audience: string;
  algorithms: readonly string[];
  clockToleranceMs: number;
  nameClaim: string;
  rolesClaim: string;
  /** `VALUE=ROLE+ROLE` */
  roles: readonly string[];
  /** Wall clock, for the expiry of JWTs. */
  now?: () => number;
  /** Monotonic clock, for the cache. */
  running?: () => number;
}

interface Verified {
  payload: JWTPayload;
  keySet: JSONWebKeySet;
}

/** Verifies JWTs and returns their owners. */
export class JwtCheck {
  readonly #options: Required<JwtCheckOptions>;
  readonly #toRoles: (values: readonly string[]) => Identity['roles'];
  /** `expiresMs` is wall clock time, `untilMs` is monotonic. */
  readonly #known = new Map<string, { identity: Identity; expiresMs: number; untilMs: number }>();
  /** The key set that cached JWTs were verified with, prepared once. */
  #ready: { keySet: JSONWebKeySet; getKey: JWTVerifyGetKey } | undefined;

  constructor(options: JwtCheckOptions) {
    this.#options = { now: Date.now, running: () => performance.now(), ...options }; // clock: ends of JWTs
    this.#toRoles = createRoleRules(options.roles);
  }

  /** Whether the token has the form of a JWT. */
  static isJwt(token: string): boolean {
    return token.length <= MAX_TOKEN_CHARS && JWT.test(token);
  }

  /** The owner of a cached JWT, by its hash. */
  known(hash: Buffer): Identity | undefined {
    const key = hash.toString('latin1');
    const known = this.#known.get(key);
    if (!known) return undefined;
    const { now, running } = this.#options;
    if (now() < known.expiresMs && running() < known.untilMs) return known.identity;
    this.#known.delete(key);
    return undefined;
  }

  async check(token: string, hash: Buffer): Promise<AuthResult> {
    const { errors } = await import('jose');
    try {
      const { payload, keySet } = await this.#verify(token);
      const identity = this.#toIdentity(payload);
      // The keys may have been replaced meanwhile.
      if (this.#ready?.keySet === keySet) this.#remember(hash, identity, payload);
      return { identity };
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      if (error instanceof errors.JWTExpired) return { refusal: 'the token has expired' };
      // Reached only with a valid signature: claims are checked after it.
      if (error instanceof errors.JWTClaimValidationFailed)
        return { refusal: `the claim ${JSON.stringify(error.claim)} of the token is not what this node accepts` };
      return { refusal: NOT_KNOWN };
    }
  }

  async #verify(token: string): Promise<Verified> {
    const { errors } = await import('jose');
    const { keys } = this.#options;
    const first = await keys.current();
    try {
      return await this.#verifyWith(token, first);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const renewed = await keys.renew();
      if (renewed === first) throw error;
      return this.#verifyWith(token, renewed);
    }
  }

  async #verifyWith(token: string, keySet: JSONWebKeySet | undefined): Promise<Verified> {
    const { createLocalJWKSet, errors, jwtVerify } = await import('jose');
    if (!keySet) throw new errors.JWKSNoMatchingKey();
    if (this.#ready?.keySet !== keySet) {
      this.#known.clear();
      this.#ready = { keySet, getKey: createLocalJWKSet(keySet) };
    }
    const options = this.#verifyOptions();
    const { payload } = await jwtVerify(token, this.#ready.getKey, options);
    // The library compares it only with a maximum age, which would make the claim mandatory.
    if ((payload.iat ?? 0) > Math.floor(options.currentDate.getTime() / 1000) + options.clockTolerance)
      throw new errors.JWTClaimValidationFailed('issued in the future', payload, 'iat');
    return { payload, keySet };
  }

  #verifyOptions() {
    const { issuer, audience, algorithms, clockToleranceMs, now } = this.#options;
    return {
      issuer,
      audience,
      algorithms: [...algorithms],
      clockTolerance: Math.floor(clockToleranceMs / 1000),
      currentDate: new Date(now()),
      // A token that never expires could not be revoked.
      requiredClaims: ['exp'],
    } satisfies JWTVerifyOptions;
  }

  #toIdentity(payload: JWTPayload): Identity {
    const { nameClaim, rolesClaim } = this.#options;
    const [name = 'nameless'] = claimValues(payload, nameClaim);
    return { name: name.slice(0, MAX_NAME_CHARS), kind: 'jwt', roles: this.#toRoles(claimValues(payload, rolesClaim)) };
  }

  #remember(hash: Buffer, identity: Identity, { exp = 0 }: JWTPayload): void {
    const { running, clockToleranceMs, keys } = this.#options;
    const expiresMs = exp * 1000 + clockToleranceMs;
    const untilMs = Math.min(running() + KNOWN_MS, keys.usableUntilMs);
    const key = hash.toString('latin1');
    this.#known.delete(key);
    this.#known.set(key, { identity, expiresMs, untilMs });
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value ?? '');
  }
}

/** More values are ignored: the list comes from outside, and nobody is in that many groups. */
const MAX_VALUES = 1000;

/** The strings at a dotted path of a JWT's claims. */
export function claimValues(claims: Readonly<Record<string, unknown>>, path: string): string[] {
  // The name of a claim may contain dots: `https://example.org/groups`.
  const found = Object.hasOwn(claims, path) ? claims[path] : path.split('.').reduce(step, claims);
  const values: unknown[] = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found];
  return values.filter((value) => typeof value === 'string');
}

function step(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined;
  return (holder as Record<string, unknown>)[name];
}
