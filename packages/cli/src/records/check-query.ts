import { PortholeError, parseQuery } from '@porthole/contract';
import type { Invocation } from '../invocation.ts';
import { errorAt } from '../output/point-at.ts';

/** Throws if `--query` is invalid, with the character that is wrong. To be called before anything is contacted. */
export function checkQuery(invocation: Invocation): void {
  const text = invocation.text('query');
  if (text === undefined) return;
  try {
    parseQuery(text);
  } catch (error) {
    if (!(error instanceof PortholeError) || error.position === undefined) throw error;
    throw errorAt(error.message, text, error.position);
  }
}
