import type { Socket } from 'node:net';
import { mayUse, PortholeError, type RouteRole } from '@porthole/contract';
import { bearerToken } from './bearer.ts';
import type { CertificateCheck } from './certificate-check.ts';
import { ANONYMOUS, type Identity, type Verdict } from './identity.ts';
import { JwtCheck } from './jwt-check.ts';
import { hashOf, isSameHash } from './same-secret.ts';
import { ShownTokens } from './shown-tokens.ts';
import { CredentialsEnded, StandingVisits, type Visit } from './standing-visits.ts';
import type { TokenCheck } from './tokens.ts';

const NOT_KNOWN = 'the token is not known to this node';

/** Fails closed: whoever cannot be identified is refused, and counts as one who failed. */
const NOT_CHECKED = 'the credentials could not be checked';

/** What someone shows who asks. */
export interface Visitor {
  authorization: string | undefined;
  /** `undefined` for one that is gone already. */
  socket: Socket | undefined;
  address: string;
}

/** The kinds of credentials that are set up. Tokens are looked at through a function: their file may be read again. */
export interface AccessParts {
  tokens?: (() => TokenCheck) | undefined;
  jwt?: JwtCheck | undefined;
  certificates?: CertificateCheck | undefined;
  /** The cluster token, as its file has it now. */
  memberToken?: (() => string | undefined) | undefined;
  /** Counts one and throws for too many. */
  countFailure(address: string): void;
  /** Is given what nobody expected while credentials were checked. */
  onError?(error: unknown): void;
}

/** Who may come in: the same at every door. */
export class Access {
  readonly #parts: AccessParts;
  readonly #shown = new ShownTokens();
  readonly #visits = new StandingVisits((visit) => this.#judgeAgain(visit));
  #failures = 0;

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  /** Whether clients are asked who they are at all. */
  get isGuarded(): boolean {
    const { tokens, jwt, certificates } = this.#parts;
    return tokens !== undefined || jwt !== undefined || certificates !== undefined;
  }

  /** Requests without valid credentials since the start. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Who asks. A promise only for a JWT that was not seen lately: all others are known at once. Never throws: whatever goes
   * wrong on the way is a refusal.
   */
  identify(visitor: Visitor): Verdict | Promise<Verdict> {
    const refuse = (error: unknown): Verdict => {
      this.#parts.onError?.(error);
      return { refusal: NOT_CHECKED };
    };
    try {
      const found = this.#identify(visitor);
      return found instanceof Promise ? found.catch(refuse) : found;
    } catch (error) {
      return refuse(error);
    }
  }

  #identify({ authorization, socket }: Visitor): Verdict | Promise<Verdict> {
    const { tokens, jwt, certificates } = this.#parts;
    if (!this.isGuarded) return { identity: ANONYMOUS };
    // A token that is wrong is not made good by a certificate: who shows one means it.
    if (authorization !== undefined && (tokens || jwt)) return this.#identifyBearer(authorization, socket);
    return (socket && certificates?.check(socket)) ?? { refusal: '' };
  }

  /** Lets someone in, or throws what they are told. `where` is where a token would stand: it differs by transport. */
  admit(
    verdict: Verdict,
    wanted: RouteRole,
    { visitor, where }: { visitor: Visitor; where: string },
  ): Identity | undefined {
    if ('refusal' in verdict) {
      if (wanted === 'none') return undefined;
      this.#failures++;
      this.#parts.countFailure(visitor.address);
      throw new PortholeError('UNAUTHENTICATED', verdict.refusal || this.#whatToShow(where));
    }
    const { identity } = verdict;
    if (mayUse(identity.roles, wanted)) return identity;
    throw new PortholeError('FORBIDDEN', tooLittle(identity, wanted));
  }

  /** Revocation lists have changed: who showed a certificate before connects again. */
  renewRevocations(): void {
    this.#parts.certificates?.renewLists();
  }

  /**
   * For an answer that does not end by itself: `end` is called when its reader would not be let in any more. Returns what is
   * to be called when the answer is over.
   */
  stay(visit: Visit): () => void {
    return this.isGuarded ? this.#visits.add(visit) : () => {};
  }

  async #judgeAgain({ visitor, wanted }: Visit): Promise<CredentialsEnded | undefined> {
    const verdict = await this.identify(visitor);
    if ('refusal' in verdict) return new CredentialsEnded('UNAUTHENTICATED', verdict.refusal || NOT_KNOWN);
    const { identity } = verdict;
    return mayUse(identity.roles, wanted) ? undefined : new CredentialsEnded('FORBIDDEN', tooLittle(identity, wanted));
  }

  #identifyBearer(authorization: string, socket: Socket | undefined): Verdict | Promise<Verdict> {
    const { jwt } = this.#parts;
    const tokens = this.#parts.tokens?.();
    const shown = tokens && socket && { authorization, tokens };
    const again = shown && this.#shown.ownerOf(socket, shown);
    if (again) return { identity: again };
    const token = bearerToken(authorization);
    if (token === undefined) return { refusal: NOT_KNOWN };
    const hash = hashOf(token);
    const owner = this.#asMember(tokens?.ownerOf(hash), hash);
    if (owner && shown) this.#shown.remember(socket, shown, owner);
    const identity = owner ?? jwt?.known(hash);
    if (identity) return { identity };
    return jwt && JwtCheck.looksLike(token) ? jwt.check(token, hash) : { refusal: NOT_KNOWN };
  }

  /** Other nodes come with the token that this one shows to them. */
  #asMember(owner: Identity | undefined, shown: Buffer): Identity | undefined {
    const token = this.#parts.memberToken?.();
    if (!owner || token === undefined || !isSameHash(hashOf(token), shown)) return owner;
    return { ...owner, isMember: true };
  }

  #whatToShow(where: string): string {
    const { tokens, jwt, certificates } = this.#parts;
    if (!tokens && !jwt) return 'this node needs a client certificate of an authority it trusts';
    const certificate = certificates ? ', or show a client certificate' : '';
    return `this node needs a token: send ${where}${certificate}`;
  }
}

function tooLittle(identity: Identity, wanted: RouteRole): string {
  const known = `you are known as ${JSON.stringify(identity.name)} with ${rolesText(identity)}`;
  return `this needs the role "${wanted}"; ${known}`;
}

function rolesText({ roles }: Identity): string {
  if (roles.length === 0) return 'no role';
  return `the ${roles.length === 1 ? 'role' : 'roles'} ${roles.map((role) => `"${role}"`).join(' and ')}`;
}
