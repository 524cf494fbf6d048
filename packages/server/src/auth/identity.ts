import { ROLES, type Role } from '@porthole/contract';

/** By what someone is known. */
export type CredentialKind = 'token' | 'jwt' | 'certificate' | 'anonymous';

/** Who asks. */
export interface Identity {
  name: string;
  kind: CredentialKind;
  roles: readonly Role[];
  /** It showed the cluster token of this node: another node, or whoever shares its token. */
  isMember?: true;
}

/** Everyone, where no credentials are asked for. */
export const ANONYMOUS: Identity = { name: 'anonymous', kind: 'anonymous', roles: ROLES };

/** Who asks, or why that cannot be said, in words for the one who asks. */
export type AuthResult = { identity: Identity } | { refusal: string };
