import { PortholeError } from '../errors/errors.ts';

/** What is wrong with the text of a query. */
export interface QueryProblem {
  /** UTF-16 index into the text; its length, if something is missing at the end. */
  position: number;
  detail: string;
}

export function queryError({ position, detail }: QueryProblem): PortholeError {
  const message = `invalid query at character ${position + 1}: ${detail}`;
  return new PortholeError('QUERY_INVALID', message, { position });
}
