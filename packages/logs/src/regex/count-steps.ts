/**
 * Maximum number of instructions of a regex: as many as the longest one has characters, so that only counts are
 * rejected. The time per character grows with them: at this size, a line of 200 characters takes 40 ms in the worst
 * case, and one of 64 KiB seconds. `.{0,1000}` has 2,000.
 */
export const MAX_REGEX_STEPS = 2048;

const COUNTS = /^\{(\d{1,4})(,?)(\d{0,4})\}/;
const FLAGS_OR_NAME = /^\?(?:P?<\w*>|[a-zA-Z-]*:?)/;
const BRACED = /^(?:[pP]|x)\{[^}]*\}/;

/** What has been read of a parenthesized group. */
interface Group {
  /** Steps before the last atom. */
  steps: number;
  /** Steps of the last atom, which a count may repeat. */
  last: number;
  /** Steps of the group itself: the start and end of a capture. */
  own: number;
}

/**
 * About how many instructions a pattern compiles to, without compiling it: counts are expanded by the compiler, so that
 * a few characters can become a million instructions. Never fewer than the real number minus two. Any number for an
 * invalid pattern.
 */
export function countSteps(pattern: string): number {
  const outer: Group[] = [];
  let group: Group = { steps: 0, last: 0, own: 0 };
  const add = (steps: number) => {
    group.steps += group.last;
    group.last = steps;
  };
  for (let at = 0; at < pattern.length; ) {
    const rest = pattern.slice(at, at + MAX_TOKEN);
    const sign = pattern[at];
    const counts = sign === '{' ? COUNTS.exec(rest) : null;
    at++;
    if (counts) {
      group.last = repeated(group.last, counts);
      at += counts[0].length - 1;
    } else if (sign === '*' || sign === '+' || sign === '?') {
      // If the operand can be empty, `x*` is `(x+)?`.
      group.last += sign === '*' ? 2 : 1;
    } else if (sign === '(') {
      const opening = FLAGS_OR_NAME.exec(rest.slice(1))?.[0] ?? '';
      outer.push(group);
      group = { steps: 0, last: 0, own: opening === '' || opening.endsWith('>') ? 2 : 0 };
      at += opening.length;
    } else if (sign === ')') {
      const { steps, last, own } = group;
      group = outer.pop() ?? { steps: 0, last: 0, own: 0 };
      add(steps + last + own);
    } else if (sign === '|') {
      add(1);
      add(0);
    } else if (sign === '[') {
      at = classEnd(pattern, at);
      add(1);
    } else if (sign === '\\' && pattern[at] === 'Q') {
      const end = pattern.indexOf('\\E', at);
      const quoted = pattern.slice(at + 1, end < 0 ? pattern.length : end);
      for (let count = 0; count < quoted.length; count++) add(1);
      at = end < 0 ? pattern.length : end + 2;
    } else if (sign === '\\') {
      at += BRACED.exec(rest.slice(1))?.[0].length ?? 1;
      add(1);
    } else {
      add(1);
    }
  }
  return [...outer, group].reduce((sum, { steps, last }) => sum + steps + last, 0);
}

/** `x{2,4}` is `xx(x(x)?)?`. */
function repeated(steps: number, [, min = '', comma, max = '']: RegExpExecArray): number {
  const least = Number(min);
  const most = comma === '' ? least : Number(max);
  if (comma !== '' && max === '') return steps * Math.max(1, least) + 2;
  return most === 0 ? 1 : steps * most + Math.max(0, most - least);
}

/** The position after the bracket that closes a class; `at` is after the opening one. */
function classEnd(pattern: string, at: number): number {
  let end = pattern[at] === '^' ? at + 1 : at;
  // A leading closing bracket is one of the characters.
  if (pattern[end] === ']') end++;
  while (end < pattern.length && pattern[end] !== ']') {
    if (pattern[end] === '\\') end += 2;
    else if (pattern.startsWith('[:', end)) end = Math.max(end + 2, pattern.indexOf(':]', end) + 2);
    else end++;
  }
  return end + 1;
}

/** Counts, flags and class names are short. */
const MAX_TOKEN = 100;
