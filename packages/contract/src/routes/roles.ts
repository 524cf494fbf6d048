/**
 * What a known client may do. `viewer`: read logs and who the nodes are. `config`: read configurations and settings.
 * `admin`: everything, now and later.
 */
export const ROLES = ['viewer', 'config', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** What a route asks for: a role, `any` who is known whatever their roles, or nothing (`none`). */
export type RouteRole = Role | 'any' | 'none';

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** Whether these roles open a route that asks for this one, to someone who is known. */
export function mayUse(roles: readonly Role[], wanted: RouteRole): boolean {
  return wanted === 'none' || wanted === 'any' || roles.includes(wanted) || roles.includes('admin');
}
