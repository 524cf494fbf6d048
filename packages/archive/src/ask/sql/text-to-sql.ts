import { RegexPrefilter } from '@porthole/logs';
import type { RegexNode, TextNode } from '@porthole/logs/query';
import { quote } from '../../clickhouse/quote.ts';
import { ALWAYS, allOf, anyOf, atMost, type Bounds, exactly, UNKNOWN } from './bounds.ts';

/** Texts that one condition searches for at most: a longer list costs more than it rules out. */
const MAX_TEXTS = 16;

/** Text anywhere in the record. Its last newline is not stored, but part of its text. */
export function textToSql({ text, caseSensitive }: TextNode): Bounds {
  return containsText(text.includes('\n') ? `concat(line, ${quote('\n')})` : 'line', text, {
    caseSensitive: caseSensitive ?? false,
  });
}

/** Of a regex, SQL searches for the texts that every match contains. */
export function regexToSql({ pattern, caseSensitive }: Omit<RegexNode, 'kind'>): Bounds {
  const sets = new RegexPrefilter(pattern, { caseSensitive: caseSensitive ?? false }).textSets;
  const found = sets.map((texts) =>
    texts.length > MAX_TEXTS
      ? UNKNOWN
      : anyOf(texts.map((text) => textToSql({ kind: 'text', text, ...(caseSensitive && { caseSensitive }) }))),
  );
  return atMost(allOf(found).may);
}

/**
 * Whether an expression contains a text. SQL decides it if case matters or the text is ASCII: the engine folds only A to Z
 * then, as `positionCaseInsensitive` does. Of others SQL searches for the parts that nothing else folds to.
 */
export function containsText(expression: string, text: string, { caseSensitive }: { caseSensitive: boolean }): Bounds {
  if (text === '') return ALWAYS;
  if (!isWellFormed(text)) return UNKNOWN;
  if (caseSensitive) return exactly(`position(${expression}, ${quote(text)}) > 0`);
  if (isAscii(text)) return exactly(foldedPosition(expression, text));
  return atMost(allOf(foldedRuns(text).map((run) => exactly(foldedPosition(expression, run)))).may);
}

function foldedPosition(expression: string, text: string): string {
  return `positionCaseInsensitive(${expression}, ${quote(text)}) > 0`;
}

/** The Kelvin sign and the dotted capital I are the only others that become ASCII letters in lower case. */
function foldedRuns(text: string): string[] {
  return text.split(/[ik]|[^\0-\x7f]/i).filter((run) => run !== '');
}

export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** A lone surrogate is no text: in UTF-8, and so in SQL, it becomes another character. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
