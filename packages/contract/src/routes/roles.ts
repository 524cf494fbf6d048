/** What an identity may do. `viewer`: read logs and the list of nodes. `config`: read configurations. `admin`: everything. */
export const ROLES = ['viewer', 'config', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** What a route requires: a role, any identity (`any`), or nothing (`none`). */
export type RouteRole = Role | 'any' | 'none';

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** Whether an identity with these roles may use a route that requires this one. */
export function mayUse(roles: readonly Role[], wanted: RouteRole): boolean {
  return wanted === 'none' || wanted === 'any' || roles.includes(wanted) || roles.includes('admin');
}
