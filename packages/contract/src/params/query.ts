import { PortholeError } from '../errors/errors.ts';

/** Loose input of a request: the part of `URLSearchParams` that parsers need. */
export interface Query {
  getAll(name: string): string[];
}

/** The one value of a parameter; an empty one counts as absent. */
export function optionalValue(query: Query, name: string): string | undefined {
  return onlyText(query.getAll(name), `"${name}"`);
}

/** The only one of the texts. Several are refused: proxies and nodes disagree on which one counts. */
export function onlyText(texts: readonly string[], label: string): string | undefined {
  if (texts.length > 1) throw new PortholeError('BAD_REQUEST', `the parameter ${label} is given ${texts.length} times`);
  return texts[0] || undefined;
}

/** The longest part of an invalid value that errors repeat. */
const SHOWN_CHARACTERS = 60;

/** An invalid value as errors quote it. */
export function quoteInput(text: string): string {
  return text.length > SHOWN_CHARACTERS
    ? `${JSON.stringify(text.slice(0, SHOWN_CHARACTERS))}...`
    : JSON.stringify(text);
}
