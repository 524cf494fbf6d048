export interface SplitLine {
  /** The complete words after the program. */
  words: string[];
  /** The word that is being typed; empty after a space. */
  last: string;
}

/** An unquoted part, a quoted one (perhaps unfinished), or an escaped character. */
const PART = /[^\s"'\\]+|"(?:[^"\\]|\\.)*"?|'[^']*'?|\\.?/gs;

/** Splits a command line into words as shells do, without expansions. */
export function splitLine(line: string): SplitLine {
  const words = [...line.matchAll(/(?:[^\s"'\\]|"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|\\(?:.|$))+/gs)].map(([word]) =>
    word.replace(PART, unquote),
  );
  const last = /(?:^|[^\\])\s$/s.test(line) || words.length === 0 ? '' : (words.pop() ?? '');
  return { words: words.slice(1), last };
}

function unquote(part: string): string {
  if (part.startsWith("'")) return part.replaceAll("'", '');
  if (part.startsWith('"')) return part.replace(/^"|"$/g, '').replace(/\\(["\\$`])/g, '$1');
  return part.startsWith('\\') ? part.slice(1) : part;
}
