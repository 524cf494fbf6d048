import type { Role } from '@porthole/contract';
import { getMemberRoute, getRoute, MEMBER_ROUTE_IDS, mayUse, ROUTE_IDS, type RouteRole } from '@porthole/contract';

/** Who there can be, from least to most; nobody is one without credentials. */
const COLUMNS: readonly (readonly [string, readonly Role[] | undefined])[] = [
  ['nobody', undefined],
  ['no role', []],
  ['`viewer`', ['viewer']],
  ['`config`', ['config']],
  ['`admin`', ['admin']],
];

/** A route or gRPC method, with the role it requires. */
type Row = readonly [string, RouteRole];

/** Whether a request is allowed; `undefined`: without credentials. */
export function isAllowed(roles: readonly Role[] | undefined, wanted: RouteRole): boolean {
  return roles === undefined ? wanted === 'none' : mayUse(roles, wanted);
}

/** The table of docs/security.md, made from the route table. */
export function roleMatrix(methods: readonly Row[]): string {
  const routes = [...ROUTE_IDS.map(getRoute), ...MEMBER_ROUTE_IDS.map(getMemberRoute)];
  const rows: Row[] = [...routes.map(({ path, role }): Row => [path, role]), ...methods];
  const head = ['what', 'needs', ...COLUMNS.map(([name]) => name)];
  const body = rows.map(([what, role]) => [
    `\`${what}\``,
    role === 'none' ? 'nothing' : role === 'any' ? 'credentials' : `\`${role}\``,
    ...COLUMNS.map(([, roles]) => (isAllowed(roles, role) ? 'yes' : '')),
  ]);
  const lines = [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);
  // Saving and deleting a view have one path and one role.
  return lines.filter((line, at) => line !== lines[at - 1]).join('\n');
}
