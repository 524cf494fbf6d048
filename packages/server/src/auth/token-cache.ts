import type { Socket } from 'node:net';
import type { Identity } from './identity.ts';
import { isSameText } from './same-secret.ts';
import type { TokenCheck } from './tokens.ts';

/** What was shown, and the tokens that counted then: what is read anew is another object. */
export interface PresentedToken {
  authorization: string;
  tokens: TokenCheck;
}

/**
 * Remembers, for every connection, the token that was last found good on it, so that most requests need no hash of
 * theirs: it took three in a hundred of the time for a small answer. Only what was found good by these very tokens counts, on
 * the connection where it was shown. A proxy sends the requests of many over one connection: none of them must be able to find
 * out what another has shown. JWTs are not remembered here: they end.
 */
export class TokenCache {
  readonly #last = new WeakMap<Socket, PresentedToken & { identity: Identity }>();

  /** Whose it is, if it is the one that was last good on this connection. */
  get(socket: Socket, { authorization, tokens }: PresentedToken): Identity | undefined {
    const last = this.#last.get(socket);
    return last?.tokens === tokens && isSameText(last.authorization, authorization) ? last.identity : undefined;
  }

  set(socket: Socket, { authorization, tokens }: PresentedToken, identity: Identity): void {
    this.#last.set(socket, { authorization, tokens, identity });
  }
}
