/** The token of an `Authorization` header; `undefined` if there is no bearer token. */
export function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header)?.[1];
}
