import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { claimValues } from './claim-values.ts';
import type { AuthResult, Identity } from './identity.ts';
import { createRoleRules } from './role-rules.ts';

/** JWTs that were found good are remembered, by their hash: checking a signature costs more than a small answer. */
const MAX_KNOWN = 10_000;

/** Remembered no longer than this, so that a changed mind about keys is noticed. */
const KNOWN_MS = 5 * 60_000;

/** Larger ones do not fit into the headers of most servers either. */
const MAX_TOKEN_CHARS = 8192;

const MAX_NAME_CHARS = 128;

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const NOT_KNOWN = 'the token is not known to this node';

/** Where the keys come from: an address or a file. */
export interface KeySource {
  /** The very same object while the keys are the same. */
  current(): Promise<JSONWebKeySet | undefined>;
  /** After a key was not found. */
  renew(): Promise<JSONWebKeySet | undefined>;
  /** By a clock that does not jump. */
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
  /** What the ends of JWTs are held against. */
  now?: () => number;
  /** A clock that does not jump, for what lasts some time. */
  running?: () => number;
}

interface Verified {
  payload: JWTPayload;
  keySet: JSONWebKeySet;
}

/** Tells who a JWT is of. */
export class JwtCheck {
  readonly #options: Required<JwtCheckOptions>;
  readonly #toRoles: (values: readonly string[]) => Identity['roles'];
  /** `expiresMs` is a time of day, `untilMs` one of the clock that does not jump. */
  readonly #known = new Map<string, { identity: Identity; expiresMs: number; untilMs: number }>();
  /** Those that the remembered ones were checked with, made ready once. */
  #ready: { keySet: JSONWebKeySet; getKey: JWTVerifyGetKey } | undefined;

  constructor(options: JwtCheckOptions) {
    this.#options = { now: Date.now, running: () => performance.now(), ...options };
    this.#toRoles = createRoleRules(options.roles);
  }

  /** Whether it can be one at all. */
  static isJwt(token: string): boolean {
    return token.length <= MAX_TOKEN_CHARS && JWT.test(token);
  }

  /** The owner of a JWT that was checked not long ago, by the hash of all of it. */
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
      // Keys may have been replaced meanwhile.
      if (this.#ready?.keySet === keySet) this.#remember(hash, identity, payload);
      return { identity };
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      if (error instanceof errors.JWTExpired) return { refusal: 'the token has expired' };
      // Told only of a token whose signature is good: claims are looked at after it.
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
    const { payload } = await jwtVerify(token, this.#ready.getKey, this.#rules());
    return { payload, keySet };
  }

  #rules(): JWTVerifyOptions {
    const { issuer, audience, algorithms, clockToleranceMs, now } = this.#options;
    return {
      issuer,
      audience,
      algorithms: [...algorithms],
      clockTolerance: Math.floor(clockToleranceMs / 1000),
      currentDate: new Date(now()),
      // One that never ends could not be taken back.
      requiredClaims: ['exp'],
    };
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
