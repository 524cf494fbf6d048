import {
  type ConfigDocument,
  type ConfigLanguage,
  type ConfigLeaf,
  DocumentBuilder,
  plainValue,
  type TextRange,
  withoutMark,
} from './config-document.ts';

/** How a format of lines, each with a key and a value, writes them. */
interface Dialect {
  /** Signs that start a comment on a line of its own. */
  comment: RegExp;
  /** Where a comment starts behind a value without quotes. */
  inlineComment?: RegExp;
  key: RegExp;
  /** Between key and value. */
  separator: RegExp;
  /** Quotes around values, and how the quote itself is written within: doubled or escaped. */
  quotes: readonly ('"' | "'")[];
  hasSections?: boolean;
  /** A backslash at the end of a line continues it on the next. */
  continues?: boolean;
  /** A quoted value may have several lines. */
  hasLongQuotes?: boolean;
  /** A key without a value is a flag. */
  hasFlags?: boolean;
  /** Dots in keys part the names of tables. */
  splitsKeys?: boolean;
}

const QUOTES = ['"', "'"] as const;

const SECTION = /^\[([^\]\r\n]{1,256})\][ \t\r]*(?:[#;].*)?$/;

/** INI and the option files of MySQL; also plain lines of `key = value`. */
export const INI = defineLanguage({
  comment: /[#;]/y,
  inlineComment: /[ \t]#/,
  hasLooseComments: true,
  key: /![\w-]+|[^=:\s[](?:[^=:\r\n]*[^=:\s])?/y,
  separator: /[ \t]*[=:][ \t]*|[ \t]+/y,
  quotes: QUOTES,
  hasSections: true,
  hasFlags: true,
  statement: /^\s*(?:\[[^\]]+\]\s*$|[\w.-]+\s*[=:])/,
});

export const PROPERTIES = defineLanguage({
  comment: /[#!]/y,
  key: /(?:\\.|[^\s=:\\])+/y,
  separator: /[ \t]*[=:][ \t]*|[ \t]+/y,
  quotes: [],
  continues: true,
  hasFlags: true,
  splitsKeys: true,
  statement: /^\s*[\w.-]+\s*[=:]/,
});

/** Environment files: `export NAME="value"`. */
export const ENV = defineLanguage({
  comment: /#/y,
  inlineComment: /[ \t]#/,
  hasLooseComments: true,
  key: /(?:export[ \t]+)?[\w.-]+(?=[ \t]*=)/y,
  separator: /[ \t]*=[ \t]*/y,
  quotes: QUOTES,
  hasLongQuotes: true,
  statement: /^\s*(?:export\s+)?[\w.-]+\s*=/,
});

export const POSTGRESQL = defineLanguage({
  comment: /#/y,
  inlineComment: /#/,
  key: /[A-Za-z_][\w.$]*/y,
  separator: /[ \t]*=[ \t]*|[ \t]+/y,
  quotes: ["'"],
  statement: /^\s*[A-Za-z_][\w.]*\s*=/,
});

/** A name, blanks and the rest of the line: Redis and the like. A key given again adds a value. */
export const KEY_VALUE = defineLanguage({
  comment: /#/y,
  key: /[A-Za-z_][\w.-]*/y,
  separator: /[ \t]*=[ \t]+|[ \t]+/y,
  quotes: QUOTES,
  hasFlags: true,
  hasDirectives: true,
  repeatsAdd: true,
  // A comment of two words; more of them are a sentence.
  statement: /^\s*(?:[\w.-]+\s+\S+\s*$|user\s)/,
});

type LanguageTraits = Pick<ConfigLanguage, 'statement'> &
  Partial<Pick<ConfigLanguage, 'hasDirectives' | 'hasLooseComments' | 'repeatsAdd'>>;

function defineLanguage({
  statement,
  hasDirectives = false,
  hasLooseComments = false,
  repeatsAdd = false,
  ...dialect
}: Dialect & LanguageTraits): ConfigLanguage {
  const language: ConfigLanguage = {
    ...{ plainMask: '******', hasDirectives, hasLooseComments, repeatsAdd, statement },
    read: (source) => readLines(withoutMark(source), dialect, language),
    // Sentences are no statements.
    readPart: (text) => (text.split('\n').every((line) => statement.test(line)) ? language.read(text) : undefined),
  };
  return language;
}

function readLines(text: string, dialect: Dialect, language: ConfigLanguage): ConfigDocument {
  const builder = new DocumentBuilder(text);
  const match = (pattern: RegExp, at: number): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? '';
  };
  let section: readonly string[] = [];
  const extended = new Set<ConfigLeaf>();
  let indent = 0;
  for (let at = 0; at < text.length; ) {
    const start = at + match(/[ \t\f]*/y, at).length;
    const isIndented = start - at > indent;
    const lineIndent = start - at;
    let end = lineEnd(text, at);
    at = end + 1;
    if (text.slice(start, end).trim() === '') continue;
    if (match(dialect.comment, start) !== '') {
      builder.comment(start + 1, end);
      continue;
    }
    const header = dialect.hasSections ? SECTION.exec(text.slice(start, end)) : null;
    if (header) {
      section = [(header[1] ?? '').trim()];
      builder.statements.push({ start, end, table: section, leaves: [], secret: false });
      continue;
    }
    while (dialect.continues && isContinued(text, end) && end < text.length) {
      end = lineEnd(text, end + 1);
      at = end + 1;
    }
    const key = match(dialect.key, start);
    const keyEnd = start + key.length;
    const separator = key === '' ? '' : match(dialect.separator, keyEnd);
    const isAssigned = /[=:]/.test(separator);
    const previous = builder.statements.at(-1)?.leaves.at(-1);
    if (dialect.hasSections && isIndented && previous && !isAssigned) {
      extended.add(previous);
      if (previous.start === previous.end) previous.start = start;
      previous.end = end;
      continue;
    }
    const isFlag = !isAssigned && (separator === '' || text.slice(keyEnd, end).trim() === '');
    if (key === '' || keyEnd > end || (isFlag && !dialect.hasFlags)) {
      builder.comment(start, end); // no line of this format
      continue;
    }
    indent = lineIndent;
    const own = dialect.splitsKeys ? key.replace(/\\(.)/g, '$1').split('.') : [key.replace(/^export[ \t]+/, '')];
    const names = [...section, ...own];
    const from = Math.min(keyEnd + separator.length, end);
    const value: ReadValue = isFlag
      ? { start: from, end: from, value: true }
      : readValue(text, { start: from, end }, dialect);
    if (value.end > end) at = lineEnd(text, value.end) + 1;
    if (value.comment !== undefined) builder.comment(value.comment, lineEnd(text, value.comment));
    const node = builder.leaf(names, { start: value.start, end: value.end }, value, start);
    builder.entries.push({ names, node });
  }
  for (const leaf of extended) finishExtended(leaf, text);
  return builder.build(language);
}

/** The value has further lines, which are indented. */
function finishExtended(leaf: ConfigLeaf, text: string): void {
  const lines = text.slice(leaf.start, leaf.end).trimEnd();
  delete leaf.positions;
  Object.assign(leaf, { end: leaf.start + lines.length, text: lines, value: lines, isQuoted: false });
}

/** Whether the line that ends here is continued by the next one. */
function isContinued(text: string, end: number): boolean {
  const last = text[end - 1] === '\r' ? end - 1 : end;
  let from = last;
  while (text[from - 1] === '\\') from--;
  return (last - from) % 2 === 1;
}

interface ReadValue extends TextRange {
  value: string | number | boolean;
  isQuoted?: boolean;
  positions?: () => readonly number[];
  /** Where a comment behind it starts. */
  comment?: number;
}

function readValue(text: string, { start, end }: TextRange, dialect: Dialect): ReadValue {
  const quote = dialect.quotes.find((sign) => sign === text[start]);
  const close = quote === undefined ? -1 : closingQuote(text, start, dialect.hasLongQuotes ? text.length : end);
  if (quote !== undefined && close >= 0) {
    const after = text.slice(close + 1, lineEnd(text, close));
    const isComment = dialect.inlineComment !== undefined && /^\s*[#;]/.test(after);
    if (after.trim() === '' || isComment) {
      const raw = text.slice(start + 1, close);
      const { value: content, positions } = unquoted(raw, quote, start + 1);
      const value = { start: start + 1, end: close, value: content, positions: () => positions, isQuoted: true };
      return isComment ? { ...value, comment: close + 1 + after.search(/[#;]/) + 1 } : value;
    }
  }
  const rest = text.slice(start, end);
  const comment = dialect.inlineComment === undefined ? -1 : rest.search(dialect.inlineComment);
  const raw = (comment < 0 ? rest : rest.slice(0, comment)).trimEnd();
  const joined = dialect.continues ? unescapedProperty(raw) : raw;
  const value = { start, end: start + raw.length, value: joined === raw ? plainValue(raw) : joined };
  if (comment < 0) return value;
  return { ...value, comment: start + comment + 1 + rest.slice(comment).search(/[#;]/) };
}

/** The quote that closes the one at `start`; a doubled or escaped one does not. */
function closingQuote(text: string, start: number, end: number): number {
  const quote = text[start];
  for (let index = start + 1; index < end; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === quote) {
      if (text[index + 1] !== quote || quote !== "'") return index;
      index++;
    }
  }
  return -1;
}

/** The text within quotes, and where each code unit of it is written. */
function unquoted(raw: string, quote: string, start: number): { value: string; positions: number[] } {
  const positions: number[] = [];
  let value = '';
  for (let index = 0; index < raw.length; index++) {
    positions.push(start + index);
    const next = raw[index + 1] ?? '';
    const isDoubled = quote === "'" && raw[index] === quote && next === quote;
    const isEscaped = raw[index] === '\\' && (next === quote || next === '\\' || (quote === '"' && /[nrt]/.test(next)));
    if (isDoubled || isEscaped) index++;
    value += isEscaped ? unescaped(next) : raw[index];
  }
  positions.push(start + raw.length);
  return { value, positions };
}

function unescaped(sign: string): string {
  return { n: '\n', r: '\r', t: '\t' }[sign] ?? sign;
}

function unescapedProperty(raw: string): string {
  if (!raw.includes('\\')) return raw;
  return raw
    .replace(/\\\r?\n[ \t]*/g, '')
    .replace(/\\u([\da-fA-F]{4})|\\(.)/g, (_, code: string | undefined, sign: string) =>
      code === undefined ? unescaped(sign) : String.fromCharCode(Number.parseInt(code, 16)),
    );
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}
