import { PortholeError } from './errors.ts';

/** Loose input of a request: the part of `URLSearchParams` that parsers need. */
export interface Query {
  getAll(name: string): string[];
}

/** The one value of a parameter. Given twice it is refused: proxies and nodes disagree on which one counts. */
export function single(query: Query, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1)
    throw new PortholeError('BAD_REQUEST', `the parameter "${name}" is given ${values.length} times`);
  return values[0];
}
