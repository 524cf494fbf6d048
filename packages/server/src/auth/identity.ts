import { ROLES, type Role } from '@porthole/contract';

/** How a client was authenticated. */
export type CredentialKind = 'token' | 'jwt' | 'certificate' | 'anonymous';

/** An authenticated client. */
export interface Identity {
  name: string;
  kind: CredentialKind;
  roles: readonly Role[];
  /** It sent the cluster token of this node: another node, or a client that shares its token. */
  isMember?: true;
}

/** Every client, if no credentials are required. */
export const ANONYMOUS: Identity = { name: 'anonymous', kind: 'anonymous', roles: ROLES };

/** The identity of a client, or why authentication failed, as a message for the client. */
export type AuthResult = { identity: Identity } | { refusal: string };
