import type { ErrorCode } from '../errors/errors.ts';
import type { Parameter } from '../params/parameter.ts';
import type { SchemaName } from '../schemas/schemas.ts';
import type { RouteRole } from './roles.ts';

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
  /** The method, if it is not GET (or HEAD): it changes something. */
  method?: 'DELETE';
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
