import { isRole, ROLES, type Role } from '@porthole/contract';

/** How a client was authenticated. */
export type CredentialKind = 'token' | 'jwt' | 'certificate' | 'program' | 'anonymous';

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

/**
 * The identity of a client; or why it was refused, as a message for the client; or that nothing is known, because the
 * program that embeds the node failed to identify it.
 */
export type AuthResult = { identity: Identity } | { refusal: string } | { isUnknown: true };

interface RoleRule {
  pattern: RegExp;
  roles: readonly Role[];
}

/** Maps values to roles by rules like `ops-*=viewer+config`, which were validated with the settings. */
export function createRoleRules(rules: readonly string[]): (values: readonly string[]) => Role[] {
  const parsed = rules.map(parseRule);
  return (values) => {
    const given = new Set(
      parsed.flatMap(({ pattern, roles }) => (values.some((value) => pattern.test(value)) ? roles : [])),
    );
    return ROLES.filter((role) => given.has(role));
  };
}

function parseRule(rule: string): RoleRule {
  const equals = rule.lastIndexOf('=');
  const source = rule
    .slice(0, equals)
    .replace(/[\\^$.|?+()[\]{}/]/g, '\\$&')
    .replace(/\*+/g, '.*');
  return {
    pattern: new RegExp(`^${source}$`, 'su'),
    roles: rule
      .slice(equals + 1)
      .split('+')
      .filter(isRole),
  };
}
