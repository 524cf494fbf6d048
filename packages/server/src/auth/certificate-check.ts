import type { Socket } from 'node:net';
// owner: creates nothing: looks whether the socket of a request is one of TLS
import { type PeerCertificate, TLSSocket } from 'node:tls';
import { errorMessage, parseJson } from '@porthole/contract';
import { type AuthResult, createRoleRules, type Identity } from './identity.ts';

const MAX_NAME_CHARS = 128;

interface Seen {
  verdict: AuthResult | undefined;
  /** When the certificate expires: a connection may outlive it. */
  untilMs: number;
  /** The generation of revocation lists it was checked with. */
  lists: number;
}

/** Identifies connections by their client certificates. */
export class CertificateCheck {
  readonly #toRoles: (names: readonly string[]) => Identity['roles'];
  readonly #now: () => number;
  readonly #seen = new WeakMap<object, Seen>();
  /** The current generation of revocation lists. */
  #lists = 0;

  /** Rules like `CN:ops-*=viewer`. */
  // clock: ends of certificates
  constructor(rules: readonly string[], now: () => number = Date.now) {
    this.#toRoles = createRoleRules(rules);
    this.#now = now;
  }

  /** `undefined` for a connection without a certificate. */
  check(socket: Socket): AuthResult | undefined {
    let seen = this.#seen.get(socket);
    if (!seen) {
      seen = this.#inspect(socket);
      this.#seen.set(socket, seen);
    }
    if (this.#now() >= seen.untilMs) return { refusal: 'the certificate has expired' };
    if (seen.lists !== this.#lists && seen.verdict) return { refusal: 'revocation lists have changed: reconnect' };
    return seen.verdict;
  }

  /** New revocation lists: certificates are accepted only on connections made after this. */
  renewLists(): void {
    this.#lists++;
  }

  #inspect(socket: Socket): Seen {
    const certificate = isTls(socket) ? socket.getPeerCertificate() : undefined;
    if (!isTls(socket) || !certificate?.subject)
      return { verdict: undefined, untilMs: Number.POSITIVE_INFINITY, lists: this.#lists };
    if (!socket.authorized) {
      const refusal = `the certificate is not accepted: ${errorMessage(socket.authorizationError ?? 'not verified')}`;
      return { verdict: { refusal }, untilMs: Number.POSITIVE_INFINITY, lists: this.#lists };
    }
    const names = certificateNames(certificate);
    const name = (names[0] ?? 'nameless').replace(/^CN:/, '').slice(0, MAX_NAME_CHARS);
    const identity: Identity = { name, kind: 'certificate', roles: this.#toRoles(names) };
    return { verdict: { identity }, untilMs: Date.parse(certificate.valid_to), lists: this.#lists };
  }
}

/** Over HTTP/2 the socket is a proxy object with the methods of a `TLSSocket`. */
function isTls(socket: Socket): socket is TLSSocket {
  return socket instanceof TLSSocket || typeof (socket as Partial<TLSSocket>).getPeerCertificate === 'function';
}

/** The types of alternative names that rules can match, by their OpenSSL spelling. */
const TYPES: Readonly<Record<string, string>> = {
  DNS: 'DNS',
  URI: 'URI',
  email: 'EMAIL',
  'IP Address': 'IP',
};

/** The names in a certificate, each with its type: `CN:ann`, `DNS:db-1.example.org`. */
export function certificateNames({ subject, subjectaltname }: PeerCertificate): string[] {
  const common: unknown = subject?.CN;
  const commons = (Array.isArray(common) ? common : [common]).filter((name) => typeof name === 'string');
  return [...commons.map((name) => `CN:${name}`), ...alternativeNames(subjectaltname ?? '')];
}

/** `DNS:a.example.org, URI:"spiffe://x, DNS:evil"`: a name with a comma or a quote is written as a JSON string. */
function alternativeNames(text: string): string[] {
  const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;
  const names: string[] = [];
  for (let match = entry.exec(text); match; match = entry.exec(text)) {
    const [whole, type = '', value = ''] = match;
    if (whole === '') break;
    const name = value.startsWith('"') ? unquoted(value) : value;
    if (TYPES[type] !== undefined && name !== undefined) names.push(`${TYPES[type]}:${name}`);
    if (entry.lastIndex >= text.length) return names;
  }
  // A list that cannot be parsed completely is not trusted at all.
  return text === '' ? names : [];
}

function unquoted(text: string): string | undefined {
  const value = parseJson(text);
  return typeof value === 'string' ? value : undefined;
}
