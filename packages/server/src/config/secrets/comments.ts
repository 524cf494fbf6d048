import {
  type ConfigComment,
  type ConfigDocument,
  LineIndex,
  MAX_DEPTH,
  type TextRange,
} from '../formats/config-document.ts';

/** The statement in a comment. Positions are relative to the comment. */
type CommentedStatement =
  | { kind: 'header'; path: string[] }
  | { kind: 'assignment'; path: string[]; valueStart: number };

/** A value that may continue in the comments below. */
interface CommentedValue {
  /** The range to mask on this line; `undefined` if there is no value. */
  secret: TextRange | undefined;
  /** The delimiter that ends the value on a later line. */
  closer: string | undefined;
}

const OPENERS: readonly (readonly [string, string])[] = [
  ['"""', '"""'],
  ["'''", "'''"],
  ['[', ']'],
  ['{', '}'],
];

/** Parses `key = value` or `[table]` after the leading hashes and blanks of a comment. */
export function readCommentedAssignment(text: string): CommentedStatement | undefined {
  const start = /^[#\s]*/.exec(text)?.[0].length ?? 0;
  const brackets = /^\[\[?[ \t]*/.exec(text.slice(start))?.[0].length ?? 0;
  const key = readKey(text, start + brackets);
  if (key === undefined) return undefined;
  if (brackets > 0) return text[key.end] === ']' ? { kind: 'header', path: key.path } : undefined;
  if (text[key.end] !== '=') return undefined;
  const blanks = /^[ \t]*/.exec(text.slice(key.end + 1))?.[0].length ?? 0;
  return { kind: 'assignment', path: key.path, valueStart: key.end + 1 + blanks };
}

/** The part of a commented-out value to mask. Quotes and brackets are kept, so that its type stays visible. */
export function readCommentedValue(text: string, start: number): CommentedValue {
  const end = text.trimEnd().length;
  for (const [opener, closer] of OPENERS) {
    if (!text.startsWith(opener, start)) continue;
    const from = start + opener.length;
    const close = text.lastIndexOf(closer);
    if (close >= from) return { secret: trimmed(text, from, close), closer: undefined };
    return { secret: trimmed(text, from, end), closer };
  }
  const quote = text[start] ?? '';
  if (quote === '"' || quote === "'") {
    const close = closingQuote(text, start);
    return { secret: trimmed(text, start + 1, close < 0 ? end : close), closer: undefined };
  }
  if (/^(?:true|false)\b/.test(text.slice(start, start + 6))) return { secret: undefined, closer: undefined };
  return { secret: trimmed(text, start, end), closer: undefined };
}

/** A further line of a value: the range to mask, and whether the value ends here. */
export function readContinuation(text: string, closer: string): { secret: TextRange | undefined; ends: boolean } {
  const start = /^[#\s]*/.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > start && /[,\s]/.test(text[end - 1] ?? '')) end--;
  if (closer.startsWith('-----')) return readPemLine(text, { start, end, closer });
  const ends = end > start && text.slice(0, end).endsWith(closer);
  return { secret: trimmed(text, start, ends ? end - closer.length : end), ends };
}

function readPemLine(text: string, line: { start: number; end: number; closer: string }) {
  const ends = text.startsWith(line.closer, line.start);
  return { secret: ends ? undefined : trimmed(text, line.start, line.end), ends };
}

/** A bare, quoted or dotted key, and the position of what follows it. */
function readKey(text: string, start: number): { path: string[]; end: number } | undefined {
  const path: string[] = [];
  const part = /[ \t]*(?:([\w-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')[ \t]*/y;
  part.lastIndex = start;
  for (;;) {
    const match = part.exec(text);
    if (match === null || path.length === MAX_DEPTH) return undefined;
    path.push(match[1] ?? match[2] ?? match[3] ?? '');
    const end = match.index + match[0].length;
    if (text[end] !== '.') return { path, end };
    part.lastIndex = end + 1;
  }
}

function closingQuote(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\' && text[start] === '"') index++;
    else if (text[index] === text[start]) return index;
  }
  return -1;
}

function trimmed(text: string, from: number, to: number): TextRange | undefined {
  const inner = text.slice(from, Math.max(from, to));
  const start = from + (inner.length - inner.trimStart().length);
  const end = from + inner.trimEnd().length;
  return end > start ? { start, end } : undefined;
}

/** A comment and its position among the statements. */
export interface LocatedComment extends ConfigComment {
  line: number;
  /** Alone on its line: only such comments can continue the one above. */
  ownLine: boolean;
  /** Names of the table around it. */
  table: readonly string[];
  /** Above, beside or within a statement with a secret. */
  besideSecret: boolean;
  /** The number of statements before it: comments with the same number have nothing between them. */
  statementIndex: number;
}

export function locateComments({ text, statements, comments }: ConfigDocument): LocatedComment[] {
  const lines = new LineIndex(text);
  let statementIndex = 0;
  return comments.map((comment) => {
    const { start } = comment;
    while ((statements[statementIndex]?.start ?? Number.POSITIVE_INFINITY) < start) statementIndex++;
    const before = statements[statementIndex - 1];
    const after = statements[statementIndex];
    const line = lines.lineAt(start);
    const ownLine = before === undefined || line > lines.lineAt(before.end);
    const within = before !== undefined && start < before.end;
    return {
      ...comment,
      line,
      ownLine: ownLine || within,
      table: before?.table ?? [],
      besideSecret: (ownLine && !within ? after?.secret : before?.secret) ?? false,
      statementIndex,
    };
  });
}
