/** Ends a run of plain characters without a doubt. */
const SPECIAL = new Set('\\^$.|?*+()[]{}');

/**
 * The longest text that stands in everything a pattern can match, as far as that is plain to see; `''` where it is
 * not. Only ever used to pass over text quickly, so it may miss much but must never promise too much: anything that
 * could make a character optional, a choice, or a class ends the run, and so does all that is not ASCII. Where case
 * does not count, so do K and S: they have equals (the kelvin sign, the long s) beyond ASCII.
 */
export function requiredText(pattern: string, { caseSensitive = false } = {}): string {
  // A choice on the outermost level, or flags inside the pattern, would need a parser: no promise then.
  if (pattern.includes('|') || pattern.includes('(?')) return '';
  let best = '';
  let run = '';
  let depth = 0;
  const endRun = () => {
    if (depth === 0 && run.length > best.length) best = run;
    run = '';
  };
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index] ?? '';
    if (character === '\\') {
      const escaped = pattern[index + 1] ?? '';
      index++;
      // An escaped mark is itself; an escaped letter or digit is a class, a position or a code of unknown length.
      if (SPECIAL.has(escaped) || escaped === '/' || escaped === '-' || escaped === '"') run += escaped;
      else if (escaped === 't') run += '\t';
      else if ('dDwWsSbBAz'.includes(escaped) && escaped !== '') endRun();
      else return '';
    } else if (character === '[') {
      endRun();
      index = classEnd(pattern, index);
    } else if (character === '(') {
      endRun();
      depth++;
    } else if (character === ')') {
      run = '';
      depth--;
    } else if (character === '?' || character === '*' || character === '{') {
      // What stands before it may be absent, or stand more than once.
      run = run.slice(0, -1);
      endRun();
      if (character === '{') index = braceEnd(pattern, index);
    } else if (character === '+') {
      endRun();
    } else if (character === '.' || character === '^' || character === '$' || character > '\x7f') {
      endRun();
    } else if (!caseSensitive && /[ks]/i.test(character)) {
      endRun();
    } else {
      run += character;
    }
  }
  endRun();
  return best;
}

function classEnd(pattern: string, open: number): number {
  let index = open + 1;
  if (pattern[index] === '^') index++;
  if (pattern[index] === ']') index++;
  while (index < pattern.length && pattern[index] !== ']') {
    if (pattern[index] === '\\') index++;
    // A named class within: its bracket is not the end.
    if (pattern[index] === '[' && pattern[index + 1] === ':') index = Math.max(index, pattern.indexOf(':]', index) + 1);
    index++;
  }
  return index;
}

/** Behind a count such as `{2,5}`; where it is none, the brace is a plain character, and the run has ended anyway. */
function braceEnd(pattern: string, open: number): number {
  const count = /^\{\d+(,\d*)?\}/.exec(pattern.slice(open, open + 20));
  return count ? open + count[0].length - 1 : open;
}
