import type { FieldRef } from './field-name.ts';
import { caseFolder, isAsciiText } from './fold-case.ts';
import { LEVELS, parseLevelName } from './levels.ts';
import { quantityEquals, quantityOrder } from './quantity.ts';
import type { FieldNode } from './query-node.ts';

/** Whether a value of a field matches. */
export type ValueTest = (text: string) => boolean;

/** What one value is tested by. Of `!=`, the test of `=`: no value may pass it. */
export function valueTest({ operator, value, wildcard, field }: FieldNode, ref: FieldRef): ValueTest {
  switch (operator) {
    case '=':
    case '!=':
      return wildcard ? patternTest(value) : equalTest(value, { field, ref });
    case ':':
      if (!wildcard && 'column' in ref && ref.column === 'level') return equalTest(value, { field, ref });
      return wordsTest(value, wildcard ?? false);
    default:
      return orderTest(operator, value, { field, ref });
  }
}

function equalTest(value: string, { field, ref }: { field: string; ref: FieldRef }): ValueTest {
  const column = 'column' in ref ? ref.column : undefined;
  if (column === 'level') {
    const level = parseLevelName(value);
    return (text) => text === level;
  }
  if (column === 'source') return (text) => isSource(text, value);
  const fold = caseFolder(value);
  const wanted = fold(value);
  const isEqual = column === 'component' ? undefined : quantityEquals(value, field);
  // Folding ASCII letters keeps the length.
  const isSame = isAsciiText(value)
    ? (text: string) => text.length === value.length && fold(text) === wanted
    : (text: string) => fold(text) === wanted;
  return (text) => text === value || isSame(text) || (isEqual?.(text) ?? false);
}

/** `runtime.go` and `runtime.go:172` match `broker/runtime.go:172`, `time.go` does not. */
function isSource(found: string, wanted: string): boolean {
  const file = found.replace(/:\d+$/, '');
  return [found, file].some((candidate) => candidate === wanted || candidate.endsWith(`/${wanted}`));
}

type Order = '<' | '<=' | '>' | '>=';

const ORDER_TESTS: Readonly<Record<Order, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function orderTest(operator: Order, value: string, { field, ref }: { field: string; ref: FieldRef }): ValueTest {
  const holds = ORDER_TESTS[operator];
  const compare = 'column' in ref && ref.column === 'level' ? levelOrder(value) : quantityOrder(value, field);
  return (text) => {
    const order = compare?.(text);
    return order !== undefined && holds(order);
  };
}

function levelOrder(value: string): ((text: string) => number | undefined) | undefined {
  const wanted = parseLevelName(value);
  if (wanted === undefined) return undefined;
  const rank = LEVELS.indexOf(wanted);
  return (text) => {
    const found = (LEVELS as readonly string[]).indexOf(text);
    return found < 0 ? undefined : found - rank;
  };
}

/** Whether a value can be compared by order: a number, a duration or a size; for `level` the name of one. */
export function isOrdered(value: string, ref: FieldRef): boolean {
  const isLevel = 'column' in ref && ref.column === 'level';
  return isLevel ? parseLevelName(value) !== undefined : quantityOrder(value, '') !== undefined;
}

/** The texts between the `*` of a pattern. */
function patternParts(value: string): string[] {
  return value.split(/\*+/);
}

/** `*` stands for any text. Always the leftmost match of each part, so that time is linear in the text per part. */
function patternTest(value: string): ValueTest {
  const fold = caseFolder(value);
  const [first = '', ...rest] = patternParts(fold(value));
  const last = rest.pop() ?? '';
  return (original) => {
    const text = fold(original);
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

/** The text occurs as whole words: where it begins or ends with a letter or digit, it is not next to another one. */
function wordsTest(value: string, wildcard: boolean): ValueTest {
  const fold = caseFolder(value);
  const parts = wildcard ? patternParts(fold(value)) : [fold(value)];
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  return (original) => {
    const text = fold(original);
    if (last === undefined) return findWords(text, first, { from: 0, left: true, right: true }) >= 0;
    let at = findWords(text, first, { from: 0, left: true, right: false });
    if (at < 0) return false;
    at += first.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return findWords(text, last, { from: at, left: false, right: true }) >= 0;
  };
}

interface Edges {
  from: number;
  /** Which edges must be those of words. */
  left: boolean;
  right: boolean;
}

function findWords(text: string, part: string, { from, left, right }: Edges): number {
  const checksLeft = left && isWordAfter(part, 0);
  const checksRight = right && isWordBefore(part, part.length);
  for (let at = text.indexOf(part, from); at >= 0; at = text.indexOf(part, at + 1)) {
    const isWhole = !(checksLeft && isWordBefore(text, at)) && !(checksRight && isWordAfter(text, at + part.length));
    if (isWhole) return at;
    // At the end, the empty text would be found for ever.
    if (at >= text.length) break;
  }
  return -1;
}

const WORD_START = /^[\p{L}\p{N}_]/u;
const WORD_END = /[\p{L}\p{N}_]$/u;

function isWordAfter(text: string, at: number): boolean {
  return WORD_START.test(text.slice(at, at + 2));
}

function isWordBefore(text: string, at: number): boolean {
  return WORD_END.test(text.slice(Math.max(0, at - 2), at));
}
