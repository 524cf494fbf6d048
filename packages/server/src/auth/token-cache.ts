import type { Socket } from 'node:net';
import type { Identity } from './identity.ts';
import { isSameText } from './same-secret.ts';
import type { TokenCheck } from './tokens.ts';

/** A token as it was sent, and the token file it was checked against: a reloaded file is another object. */
export interface PresentedToken {
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
