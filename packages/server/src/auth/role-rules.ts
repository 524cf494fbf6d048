import { isRole, ROLES, type Role } from '@porthole/contract';

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
