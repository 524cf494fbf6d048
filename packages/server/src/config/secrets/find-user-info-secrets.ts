import type { Credential } from './mask-ranges.ts';

/** Longest scheme looked for before `://`; `jdbc:sqlserver` and the like end in a plain one. */
const MAX_SCHEME = 32;

/** How far into a word its scheme is looked for. */
const MAX_WORD_HEAD = 64;

/** After these schemes, the part before an `@` is an address, not a password. */
const ADDRESS_SCHEMES = /(?:^|[^a-z])(?:mailto|sip|sips|xmpp|acct|im|image)$/i;

/** Passwords before an `@`: `scheme://user:pw@host`, `user:pw@tcp(host)/db` and `user:pw@host`. */
export function findUserInfoSecrets(text: string): Credential[] {
  if (!text.includes('@')) return [];
  return [...findInUrls(text), ...findInGoDsns(text), ...findInBareAddresses(text)];
}

function findInUrls(text: string): Credential[] {
  const found: Credential[] = [];
  let at = text.indexOf('://');
  while (at >= 0) {
    const next = text.indexOf('://', at + 3);
    const scheme = schemeBefore(text, at);
    const limit = next < 0 ? text.length : next - schemeBefore(text, next).length;
    const start = at + 3;
    const end = Math.max(start, urlEnd(text, { start, limit, quote: text[at - scheme.length - 1] }));
    const secret = findUrlSecret(text.slice(start, end), /^https?$/i.test(scheme));
    if (secret !== undefined) {
      found.push({ start: start + secret.start, end: start + secret.end, certain: true });
    }
    at = next;
  }
  return found;
}

function schemeBefore(text: string, at: number): string {
  return /[a-z][a-z0-9+.-]*$/i.exec(text.slice(Math.max(0, at - MAX_SCHEME), at))?.[0] ?? '';
}

/** A quote ends the URL only if one opened it: a password may hold any other. */
function urlEnd(text: string, url: { start: number; limit: number; quote: string | undefined }): number {
  const closing = url.quote !== undefined && /["'`]/.test(url.quote) ? url.quote : '';
  for (let index = url.start; index < url.limit; index++) {
    const sign = text[index] ?? '';
    if (sign === closing || /\s/.test(sign)) return index;
  }
  return url.limit;
}

/** `rest` is what follows `://`. */
function findUrlSecret(rest: string, isHttp: boolean): { start: number; end: number } | undefined {
  const end = userInfoEnd(rest);
  if (end <= 0) return undefined;
  const colon = rest.slice(0, end).indexOf(':');
  const password = colon < 0 ? '' : rest.slice(colon + 1, end);
  if (password !== '' && password !== 'x-oauth-basic') return { start: colon + 1, end };
  // Over HTTP a name without a password is an access token: https://ghp_abc@host, https://key:@host.
  const user = colon < 0 ? end : colon;
  return isHttp && user > 0 ? { start: 0, end: user } : undefined;
}

/** Position of the `@` that ends the user part, -1 for none. */
function userInfoEnd(rest: string): number {
  const authority = rest.slice(0, indexOrEnd(rest, /[/?#]/));
  const last = rest.lastIndexOf('@');
  if (authority.includes('@')) {
    // An `@` in a query is no part of the password; a `?` in a password is followed by no `=`.
    const query = indexOrEnd(rest, /\?/);
    return rest.slice(query, last).includes('=') ? rest.slice(0, query).lastIndexOf('@') : last;
  }
  // No host has this form, so a `/`, `?` or `#` of an unescaped password ended the authority.
  const isHost = !authority.includes(':') || authority.startsWith('[') || /:\d*(?:,|$)/.test(authority);
  return isHost ? -1 : last;
}

function indexOrEnd(text: string, sign: RegExp): number {
  const at = text.search(sign);
  return at < 0 ? text.length : at;
}

/** `@tcp(` is so specific that the password before it may contain blanks. */
function findInGoDsns(text: string): Credential[] {
  const found: Credential[] = [];
  let from = 0;
  for (const match of text.matchAll(/@[a-z][a-z0-9]{0,15}\(/gi)) {
    const before = text.slice(from, match.index);
    const line = before.lastIndexOf('\n') + 1;
    const colon = before.indexOf(':', line);
    if (colon >= 0) found.push({ start: from + colon + 1, end: match.index, certain: true });
    from = match.index + 1;
  }
  return found;
}

function findInBareAddresses(text: string): Credential[] {
  const found: Credential[] = [];
  for (const match of text.matchAll(/\S+/g)) {
    const word = match[0];
    // `jdbc:oracle:thin:user/password@host` has colons of its own.
    if (/(?:^|[^a-z])jdbc:oracle:/i.test(word.slice(0, MAX_WORD_HEAD))) continue;
    const at = word.lastIndexOf('@');
    const colon = word.search(/:(?!["'`])/);
    if (colon < 0 || colon + 1 >= at || word.slice(0, at).includes('://')) continue;
    if (ADDRESS_SCHEMES.test(word.slice(Math.max(0, colon - MAX_SCHEME), colon))) continue;
    if (!/^@[\w[/(]/.test(word.slice(at, at + 2)) || word.startsWith('@sha', at)) continue;
    found.push({ start: match.index + colon + 1, end: match.index + at, certain: true });
  }
  return found;
}
