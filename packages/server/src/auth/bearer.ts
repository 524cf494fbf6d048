import type { TokenCheck } from './tokens.ts';

/** Who a request's `Authorization` header proves it to come from; `undefined` for no or a wrong token. */
export function bearerOwner(header: string | undefined, tokens: TokenCheck): string | undefined {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1];
  return token === undefined ? undefined : tokens.ownerOf(token);
}
