import type { Socket } from 'node:net';
import { mayUse, PortholeError, type RouteRole } from '@porthole/contract';
import { bearerToken } from './bearer.ts';
import type { CertificateCheck } from './certificate-check.ts';
import { ANONYMOUS, type Identity, type Verdict } from './identity.ts';
import { JwtCheck } from './jwt-check.ts';
import { hashOf, type TokenCheck } from './tokens.ts';

const NOT_KNOWN = 'the token is not known to this node';

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
  /** Counts one and throws for too many. */
  countFailure(address: string): void;
}

/** Who may come in: the same at every door. */
export class Access {
  readonly #parts: AccessParts;
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

  /** Who asks. A promise only for a JWT that was not seen lately: all others are known at once. */
  identify({ authorization, socket }: Visitor): Verdict | Promise<Verdict> {
    const { tokens, jwt, certificates } = this.#parts;
    if (!this.isGuarded) return { identity: ANONYMOUS };
    // A token that is wrong is not made good by a certificate: who shows one means it.
    if (authorization !== undefined && (tokens || jwt)) return this.#identifyBearer(authorization);
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
    const known = `you are known as ${JSON.stringify(identity.name)} with ${rolesText(identity)}`;
    throw new PortholeError('FORBIDDEN', `this needs the role "${wanted}"; ${known}`);
  }

  #identifyBearer(authorization: string): Verdict | Promise<Verdict> {
    const { tokens, jwt } = this.#parts;
    const token = bearerToken(authorization);
    if (token === undefined) return { refusal: NOT_KNOWN };
    const hash = hashOf(token);
    const identity = tokens?.().ownerOf(hash) ?? jwt?.known(hash);
    if (identity) return { identity };
    return jwt && JwtCheck.looksLike(token) ? jwt.check(token, hash) : { refusal: NOT_KNOWN };
  }

  #whatToShow(where: string): string {
    const { tokens, jwt, certificates } = this.#parts;
    if (!tokens && !jwt) return 'this node needs a client certificate of an authority it trusts';
    const certificate = certificates ? ', or show a client certificate' : '';
    return `this node needs a token: send ${where}${certificate}`;
  }
}

function rolesText({ roles }: Identity): string {
  if (roles.length === 0) return 'no role';
  return `the ${roles.length === 1 ? 'role' : 'roles'} ${roles.map((role) => `"${role}"`).join(' and ')}`;
}
