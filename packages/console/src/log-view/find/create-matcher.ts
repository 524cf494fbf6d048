import { PortholeError } from '@porthole/client';
import { errorMessage } from '@porthole/contract';
import type { FindQuery } from '../model/workspace-state.ts';
import type { TextMatcher, TextRange } from './text-pieces.ts';

/** Upper limit of matches in one text. */
const MAX_RANGES = 200;

/**
 * Finds the matches of a query in a text, by the rules of the API: case matters only if requested, regexes are RE2, `^`
 * and `$` match at line ends. Rejects with REGEX_INVALID for an invalid regex.
 */
export async function createMatcher(query: FindQuery): Promise<TextMatcher> {
  if (query.text === '') return () => [];
  return query.isRegex ? regexMatcher(query) : literalMatcher(query);
}

function literalMatcher({ text, isCaseSensitive }: FindQuery): TextMatcher {
  const wanted = isCaseSensitive ? text : text.toLowerCase();
  return (whole) => {
    const searched = isCaseSensitive ? whole : sameLengthLower(whole);
    const ranges: TextRange[] = [];
    let start = searched.indexOf(wanted);
    while (start >= 0 && ranges.length < MAX_RANGES) {
      ranges.push({ start, end: start + wanted.length });
      start = searched.indexOf(wanted, start + wanted.length);
    }
    return ranges;
  };
}

/** A few characters become two in lower case, which would shift all later offsets. */
function sameLengthLower(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  }).join('');
}

/** Loaded on first use: most searches are plain text. */
async function regexMatcher({ text, isCaseSensitive }: FindQuery): Promise<TextMatcher> {
  const { RE2JS } = await import('re2js');
  const flags = RE2JS.MULTILINE | (isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  const compiled = compile(() => RE2JS.compile(text, flags));
  return (whole) => {
    const matcher = compiled.matcher(whole);
    const ranges: TextRange[] = [];
    while (ranges.length < MAX_RANGES && matcher.find()) ranges.push({ start: matcher.start(), end: matcher.end() });
    return ranges;
  };
}

function compile<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    // The engine takes flags in front of the pattern; hide them from the message, the user has not typed them.
    const why = errorMessage(cause).replace(/\(\?m\)(\(\?i\))?/, '');
    throw new PortholeError('REGEX_INVALID', `invalid regex: ${why}`, { cause });
  }
}
