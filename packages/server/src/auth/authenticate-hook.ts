import { isRole, ROLES, type Role } from '@porthole/contract';
import type { AuthResult } from './identity.ts';

/** A request whose client is to be identified. */
export interface AuthenticateRequest {
  transport: 'http' | 'grpc';
  /** `GET`, `HEAD`, `POST` or `DELETE`; always `POST` over gRPC. */
  method: string;
  /** Path and query as the client sent them; over gRPC the path of the method. */
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** IP address of the client; empty if it is not known. */
  address: string;
  /** What `handler` or `fetch` was called with: `req` of Express, the request of Fastify, the `Request` of Hono. */
  source: unknown;
}

/** A client as the program that embeds the node knows it. */
export interface AuthenticatedUser {
  /** In the access log and in messages. Limits are counted by it. */
  name: string;
  roles: readonly Role[];
}

/**
 * Returns who sent a request, `null` for nobody it knows. Asked for every request that has no valid token, JWT or
 * certificate of the node, and every second while a follow runs. If it throws, the request is refused.
 */
export type Authenticate = (
  request: AuthenticateRequest,
) => AuthenticatedUser | null | undefined | Promise<AuthenticatedUser | null | undefined>;

/** Clients wait for it, and so does everything else they request. */
const TIMEOUT_MS = 10_000;

const NOT_ACCEPTED = 'the service that this node is a part of does not know you: sign in there';

/** Asks the program that embeds the node. Rejects if it fails, returns what is not a user, or takes too long. */
export async function askProgram(authenticate: Authenticate, request: AuthenticateRequest): Promise<AuthResult> {
  const user = await withTimeout(Promise.resolve(authenticate(request)));
  if (user === null || user === undefined) return { refusal: NOT_ACCEPTED };
  const { name, roles } = user;
  if (typeof name !== 'string' || name === '') throw new TypeError('authenticate() returned a user without a name');
  // An unknown role may be a misspelt one: refusing is safer than leaving it out.
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string' && isRole(role)))
    throw new TypeError(`authenticate() returned roles other than ${ROLES.join(', ')}`);
  return { identity: { name, kind: 'program', roles: [...roles] } };
}

function withTimeout<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`authenticate() took longer than ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
