import { PortholeError } from './errors/errors.ts';
import { quoteInput } from './quote.ts';

/** A log view under a name: the query of its address, never a whole address. */
export interface SavedView {
  /** Its name. */
  name: string;
  /** The query of its address at `/logs`, without the question mark. */
  query: string;
  /** When it was saved, epoch milliseconds by the clock of the node that saved it. */
  changedMs: number;
  /** Who saved it, as that node knows them. */
  changedBy: string;
}

/** The views that a node keeps. */
export interface SavedViews {
  /** By name. */
  views: SavedView[];
  /**
   * Who else has them. `node`: nobody. `cluster`: every member that reads the same registry. `behind`: the registry does not
   * respond; changes are shared when it does.
   */
  sharing: 'node' | 'cluster' | 'behind';
  /** What was lost or cannot be stored; `null` if there is no problem. */
  problem: string | null;
}

/** Who sent the request. */
export interface ClientSession {
  /** Their name, as this node knows them. */
  name: string;
  /** How they were authenticated. `anonymous`: the node requires no credentials. */
  kind: 'token' | 'jwt' | 'certificate' | 'program' | 'anonymous';
  /** What they may do; the roles of this version are `viewer`, `config` and `admin`. */
  roles: string[];
}

/** More would not be found again in a list. */
export const MAX_VIEWS = 200;

export const MAX_VIEW_NAME_CHARACTERS = 80;

/** Longer than the query of any view that people made. */
export const MAX_VIEW_QUERY_CHARACTERS = 4096;

/** What is wrong with the name of a view, or `null`. */
export function viewNameProblem(name: string): string | null {
  if (!/[\p{L}\p{N}]/u.test(name)) return 'a name needs a letter or a digit';
  if (name.length > MAX_VIEW_NAME_CHARACTERS) return `a name has at most ${MAX_VIEW_NAME_CHARACTERS} characters`;
  if (name !== tidyViewName(name) || /[\p{Cc}\p{Cs}]/u.test(name))
    return 'a name has no control characters, and no white space but single spaces within it';
  return null;
}

/** What is wrong with the query of a view, or `null`. What it means is for the console to say. */
export function viewQueryProblem(query: string): string | null {
  if (query.length > MAX_VIEW_QUERY_CHARACTERS) return `a query has at most ${MAX_VIEW_QUERY_CHARACTERS} characters`;
  return /[\p{Cc}\p{Cs}]/u.test(query) ? 'a query has no control characters: they are percent-encoded' : null;
}

export function tidyViewName(name: string): string {
  return name.trim().replace(/\s+/g, ' ');
}

/** The name in a path, percent-encoded. */
export function decodeViewName(segment: string): string {
  let name: string;
  try {
    name = decodeURIComponent(segment);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new PortholeError('PARAMETER_INVALID', 'the name of the view is not percent-encoded');
  }
  const problem = viewNameProblem(name);
  if (problem !== null)
    throw new PortholeError('PARAMETER_INVALID', `invalid name of a view ${quoteInput(name)}: ${problem}`);
  return name;
}

/** The query in the body of a request that saves a view. */
export function parseViewBody(body: string): string {
  const expected = new PortholeError('PARAMETER_INVALID', 'send the view as {"query": "level=error&last=1h"}');
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw expected;
  }
  const query = typeof value === 'object' && value !== null && 'query' in value ? value.query : undefined;
  if (typeof query !== 'string') throw expected;
  const problem = viewQueryProblem(query);
  if (problem !== null) throw new PortholeError('PARAMETER_INVALID', `invalid query of a view: ${problem}`);
  return query;
}
