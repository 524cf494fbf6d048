import type { ErrorCode } from '../errors/errors.ts';
import type { Parameter } from '../params/parameter.ts';
import type { SchemaName } from '../schemas/schemas.ts';

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

/** A route, for the router, the OpenAPI document and the docs. */
export interface Route {
  /** A part in braces at its end matches the rest of the path. */
  path: string;
  /** Further paths with the same response. */
  aliases?: readonly string[];
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  /** `each`: the response is a stream of these, each with this schema; without it the schema is of the whole. */
  response: { contentType: string; schema?: SchemaName; each?: 'line' | 'event' };
  /** Further statuses of success, besides 200. */
  otherResponses?: Readonly<Record<number, string>>;
  /** Its own errors, besides those of every route. */
  errors: readonly ErrorCode[];
  /** Who may use it, if authentication is enabled. Not optional: no route is added without deciding it. */
  role: RouteRole;
  /** The method, if it is not GET (or HEAD). */
  method?: 'DELETE' | 'POST';
  /** Also accepts POST with the parameters as a JSON object, for cursors that are too long for a URL. */
  post?: true;
  /** Counts against the limit of concurrent streams. */
  stream?: true;
  /** Part of a page, not of the interface: not in the OpenAPI document. */
  page?: true;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';
