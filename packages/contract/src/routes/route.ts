import type { ErrorCode } from '../errors/errors.ts';
import type { Parameter } from '../params/parameter.ts';
import type { SchemaName } from '../schemas/schemas.ts';
import type { RouteRole } from './roles.ts';

/** What a route is, for the router, the OpenAPI document and the docs: all three read this table. */
export interface Route {
  /** A part in braces at its end stands for whatever follows there. */
  path: string;
  /** Further paths with the same answer. */
  aliases?: readonly string[];
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  /** `each`: what the answer has many of, each with this schema; without it the schema is of the whole. */
  response: { contentType: string; schema?: SchemaName; each?: 'line' | 'event' };
  /** Further statuses of a good answer, beside 200. */
  otherResponses?: Readonly<Record<number, string>>;
  /** Errors of its own, beside those every route can give. */
  errors: readonly ErrorCode[];
  /** Who is answered, once a node asks who they are. Not optional: no route is added without deciding it. */
  role: RouteRole;
  /** What it is asked with where that is not GET (or HEAD): it changes something. */
  method?: 'DELETE';
  /** Also answers POST with the parameters as a JSON object, for cursors that are too long for a URL. */
  post?: true;
  /** Counts against the limit of concurrent streams. */
  stream?: true;
  /** A part of a page, not of the interface: not in the OpenAPI document. */
  page?: true;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';
