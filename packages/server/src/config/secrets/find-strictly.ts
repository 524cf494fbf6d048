import type { TextRange } from '../formats/config-document.ts';
import { NOT_SECRETS } from './find-credentials.ts';
import { type Credential, MASK } from './mask-ranges.ts';

const NAME = /[\w.-]{2,128}/g;

/** Quotes and brackets that close around a name: `["password"]`, `$(password)`, `token()`. */
const CLOSERS = /(?:\\?["'`]|\(\)|[\])]){0,4}/y;

/** What parts a name from its value; also a second key, `name = "TOKEN", value = "x"`, or a colon on the next line. */
const OPERATOR =
  /\s{0,64},?\s{0,64}["']?(?:value|default|content|data)["']?[ \t]{0,8}(?:=>|[=:])|[ \t]{0,64}(?:=>|->|<-|::?=?|[!=?+|~<>]{0,2}={1,3}|~\*?|\r?\n[ \t]{0,64}[=:](?=[ \t]))/y;

/** Between a name and its value in a list of arguments or a tuple: only behind a quote or an opening bracket. */
const COMMA = /[ \t]{0,64},/y;

const BLANKS = /[ \t]*/y;

/** What may stand before the first name on a line; and before one that a value is assigned to: `static final String`. */
const LINE_HEAD = /^[ \t]*(?:[#;!*/?,-]+[ \t]*)?(?:(?:export|set|setenv)[ \t]+)?["'$@[]*$/;
const ASSIGNED_HEAD = /^[ \t]*(?:[#;!*/?,-]+[ \t]*)?(?:\w{1,32}[ \t]+){0,4}["'$@[]*$/;

const COMMENT = /^[ \t]*(?:#|;|\/\/|--|!|\*|<!--)/;

/** A header of lines below, as in YAML. */
const BLOCK_HEADER = /(?:[|>][+-]?\d?[+-]?)?[ \t]*(?:#.*)?\r?(?=\n|$)/y;

/** Not a binary of Erlang: `<<"x">>`. */
const HEREDOC = /<<[-~]?(["']?)([A-Za-z_]\w*)\1(?!>)/;

/** They reveal nothing, or part a name from its value within a line. */
const NOTHING = /^(?:true|false|on|off|yes|no|null|nil|none)$/i;
const PROSE =
  /(?:of|for|to|the|a|an|and|or|in|on|with|must|can|from|not|if|will|should|be|that|this|by|using|has|as)(?=\s)/iy;
const SCHEME =
  /(?:(?:\d{1,2}|is|was|are|enc|encrypted|crypted|plain|plaintext|clear|cleartext|hash|hashed|hex|md5|sha\d*|bearer|basic|digest|token|password|string)[ \t]+(?=\S)){1,3}/iy;

/** Between a name and its value: `var token string = "x"`. */
const TYPE = /[\w.*&[\]<>]{1,64}[ \t]{0,8}:?=(?!=)/y;

const WORD = /[^\s"'`,;&<>(){}[\]]+/y;
/** A word of a directive may hold any sign. */
const ARGUMENT = /[^\s"'`{][^\s]*/y;
/** What goes on behind a part of an expression: `'a' . 'b'`, `env.TOKEN || 'x'`, `token: string = 'x'`. */
const GOES_ON = /[ \t]*(?:[.+|?:&%\\=]+[ \t]*(?:\r?\n[ \t]*)?|(?=[{([]))/y;

/** A quoted name behind a value. */
const NAMED = /["'`][\w.-]{1,128}["'`][ \t]*[=:]/y;

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };

/** Secrets that a position gives away, in formats whose names of settings do not. */
const POSITIONS: readonly RegExp[] = [
  // user and password: curl, coturn, Squid
  /(?:\b|[-_])(?:user|login|auth|userpwd|userinfo|credentials?)["']?[ \t]{0,8}[=:][ \t]{0,8}["']?[^\s:"'/@=]{1,128}:(?!\d+\b|\/)([^\s"']{1,512})/gi,
  // ProFTPD
  /\b(?:SQL(?:Named)?ConnectInfo|LDAPBindDN)[ \t][^\n]{0,512}[ \t](\S{1,512})/gi,
  // SNMP; ejabberd; Exim; network devices
  /^[ \t]{0,64}(?:createUser|com2sec6?)[ \t]{1,8}[^\s]{1,128}[ \t]{1,8}([^\n]{1,512})/gim,
  /\b(?:odbc_server|sql_server)[ \t]{0,8},([^\n]{1,512})/g,
  /\bclient_send[ \t]{0,8}=[^\n]{0,512}:[ \t]{0,8}([^\n:]{1,512})/g,
  /\b(?:tacacs|radius)(?:-server)?[ \t][^\n]{0,128}?\bkey[ \t]{1,8}(?:\d[ \t]{1,8})?(\S{1,512})/gi,
  // Monit; lftp; Windows; rsyslog
  /\ballow[ \t]{1,8}[A-Za-z]\w{0,63}:(?![:\d])(\S{1,512})/g,
  /\bopen[ \t][^\n]{0,64}?-u[ \t]{1,8}[^\s,]{1,128},(\S{1,512})/g,
  /\/user:\S{1,128}[ \t]{1,8}([^\s/]\S{0,512})/gi,
  /:om\w{1,16}:(?:[^,\n]{1,128},){3}([^\s;]{1,512})/g,
  // PgBouncer
  /^"[^"\n]{1,128}"[ \t]{1,8}"([^"\n]{1,512})"/gm,
  // Asterisk's voice mail; Nagios; sbt
  /^[ \t]{0,64}\d{1,10}[ \t]{0,8}=>[ \t]{0,8}([^,\s]{1,64}),/gm,
  /^\$USER\d{1,3}\$[ \t]{0,8}=[ \t]{0,8}(?!\/)(\S[^\n]{0,512})/gm,
  /\bCredentials\(([^\n)]{1,512})/g,
];

/**
 * Secrets in a text of unknown format: what follows the name of a secret, whatever stands between them, to where it may
 * end at the latest. In doubt it is a secret. One pass: what was found is not looked at again.
 */
export function findStrictly(text: string, isSecretName: (name: string) => boolean): Credential[] {
  return [...findAtPositions(text), ...new StrictReader(text, isSecretName).read()];
}

function findAtPositions(text: string): Credential[] {
  return POSITIONS.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ 0: whole, 1: secret = '', index }) => {
      const start = index + whole.lastIndexOf(secret);
      return { start, end: start + secret.trimEnd().length, certain: false };
    }),
  );
}

class StrictReader {
  readonly #text: string;
  readonly #isSecretName: (name: string) => boolean;
  readonly #known = new Map<string, boolean>();
  /** Quotes that no longer occur in the rest of the text. */
  readonly #unclosed = new Set<string>();
  readonly #kubernetes: readonly TextRange[];
  #line: TextRange = { start: 0, end: -1 };

  constructor(text: string, isSecretName: (name: string) => boolean) {
    this.#text = text;
    this.#isSecretName = isSecretName;
    this.#kubernetes = findKubernetesSecrets(text);
  }

  read(): Credential[] {
    const found: Credential[] = [];
    let done = 0;
    let nextKubernetes = 0;
    for (const { 0: name, index } of this.#text.matchAll(NAME)) {
      if (index < done) continue;
      while ((this.#kubernetes[nextKubernetes]?.end ?? Number.POSITIVE_INFINITY) <= index) nextKubernetes++;
      const isInSecret = (this.#kubernetes[nextKubernetes]?.start ?? Number.POSITIVE_INFINITY) <= index;
      if (!this.#isSecret(name) && !(isInSecret && /^(?:data|stringData)$/.test(name))) continue;
      while (this.#line.end < index) this.#line = this.#lineAt(this.#line.end + 1);
      const value = this.#valueOf({ start: index, end: index + name.length });
      if (value === undefined || value.end <= value.start) continue;
      if (NOTHING.test(this.#text.slice(value.start, Math.min(value.end, value.start + 8)))) continue;
      found.push({ ...value, certain: false });
      done = value.end;
    }
    return found;
  }

  #isSecret(name: string): boolean {
    const known = this.#known.get(name) ?? this.#isSecretName(name);
    this.#known.set(name, known);
    return known;
  }

  #valueOf(name: TextRange): TextRange | undefined {
    const head = this.#text.slice(this.#line.start, Math.min(name.start, this.#line.start + 128));
    const isFirst = name.start - this.#line.start < 128 && LINE_HEAD.test(head);
    const before = this.#text[name.start - 1] ?? '';
    if (before === '<') return this.#elementBelow(name);
    const closed = name.end + this.#match(CLOSERS, name.end).length;
    const operator = this.#match(OPERATOR, closed);
    const isListed = closed > name.end || /[{([]/.test(before);
    const comma = operator === '' && isListed ? this.#match(COMMA, closed) : '';
    const from = closed + operator.length + comma.length;
    const start = from + this.#match(BLANKS, from).length;
    while (this.#line.end < start) this.#line = this.#lineAt(this.#line.end + 1);
    if (operator === '' && closed === name.end && this.#text[closed] === '(')
      return { start: closed + 1, end: Math.max(closed + 1, this.#groupEnd(closed) - 1) };
    const column = isFirst ? head.length : Number.POSITIVE_INFINITY;
    if (operator + comma === '') return start > from ? this.#argument(name, { start, isFirst, head }) : undefined;
    const header = this.#match(BLOCK_HEADER, start).length;
    if (start + header >= this.#line.end - 1) return this.#linesBelow(column, { isAssigned: true });
    const isPlain = !/["'`<]/.test(this.#text[start] ?? '') && !this.#text.startsWith(MASK, start);
    return isPlain && (isFirst || ASSIGNED_HEAD.test(head))
      ? this.#restOfLine(start)
      : this.#withoutQuotes(start, this.#expressionEnd(start));
  }

  /** A value behind blanks. */
  #argument(
    name: TextRange,
    { start, isFirst, head }: { start: number; isFirst: boolean; head: string },
  ): TextRange | undefined {
    const text = this.#text;
    if (start >= this.#line.end || text[start] === '\r')
      return isFirst ? this.#linesBelow(head.length, { isAssigned: false }) : undefined;
    if (this.#match(PROSE, start) !== '' || NOT_SECRETS.test(text.slice(name.start, name.end))) return undefined;
    if (COMMENT.test(head) && (text.slice(start, Math.min(this.#line.end, start + 256)).match(/\S+/g)?.length ?? 0) > 2)
      return undefined;
    if (text[start] === '-' && text[name.start] === '-') return undefined; // a flag behind another
    if (isFirst || text[start] === '-' || this.#match(TYPE, start) !== '') return this.#restOfLine(start);
    const value = start + this.#match(SCHEME, start).length;
    const isQuoted = /["'`]/.test(text[value] ?? '');
    const word = this.#match(ARGUMENT, value);
    const end = isQuoted ? this.#quoteEnd(value) : value + word.replace(/[;,)}\]]+$/, '').length;
    const next = end + this.#match(BLANKS, end).length;
    if (text[next] === '{') return { start, end: this.#groupEnd(next) };
    return this.#withoutQuotes(value, end);
  }

  #withoutQuotes(start: number, end: number): TextRange {
    const quote = this.#text[start] ?? '';
    const isOne = /["'`]/.test(quote) && this.#text.indexOf(quote, start + 1) === end - 1;
    return isOne ? { start: start + 1, end: end - 1 } : { start, end };
  }

  /** To the end of the line, and of what is open there. */
  #restOfLine(start: number): TextRange {
    let { end } = this.#line;
    const rest = this.#text.slice(start, end).trimEnd();
    const last = start + rest.length - 1;
    const [, , word] = HEREDOC.exec(rest.slice(0, 4096)) ?? [];
    const triple = /"""|'''/.exec(rest)?.[0];
    if (CLOSING[this.#text[last] ?? '']) end = this.#groupEnd(last);
    else if (word !== undefined) end = this.#heredocEnd(word);
    else if (triple !== undefined && rest.split(triple).length % 2 === 0) end = this.#closingEnd(triple, end);
    else if (rest.endsWith('\\')) {
      while (this.#text[end - 1] === '\\' || this.#text.startsWith('\\\r', end - 2)) {
        const next = this.#lineAt(end + 1);
        if (next.end <= end) break;
        end = next.end;
      }
    }
    return {
      start,
      end: Math.max(start, end - (/[\s;,]*$/.exec(this.#text.slice(Math.max(start, end - 64), end))?.[0].length ?? 0)),
    };
  }

  /** The end of a value in an expression, which may have several parts. */
  #expressionEnd(from: number): number {
    const text = this.#text;
    for (let at = from; ; ) {
      const sign = text[at] ?? '';
      let end = at;
      if (text.startsWith('"""', at) || text.startsWith("'''", at))
        end = this.#closingEnd(text.slice(at, at + 3), at + 3);
      else if (/["'`]/.test(sign)) end = this.#quoteEnd(at);
      else if (text.startsWith('<<', at)) {
        const [heredoc, , word] = HEREDOC.exec(text.slice(at, at + 140)) ?? [];
        end = heredoc && word !== undefined && text.startsWith(heredoc, at) ? this.#heredocEnd(word) : at + 2;
        if (end === at + 2) {
          at = end;
          continue;
        }
      } else if (CLOSING[sign] !== undefined) end = this.#groupEnd(at);
      else end = at + this.#match(WORD, at).length;
      if (end === at) return end;
      const next = end + this.#match(GOES_ON, end).length;
      const follows = end + this.#match(BLANKS, end).length;
      if (next > end || CLOSING[text[next] ?? ''] !== undefined) at = next;
      else if (follows > end && /["'`]/.test(text[follows] ?? '') && this.#match(NAMED, follows) === '') at = follows;
      else return end;
    }
  }

  #quoteEnd(start: number): number {
    const quote = this.#text[start] ?? '';
    for (let at = start + 1; !this.#unclosed.has(quote); at++) {
      at = this.#text.indexOf(quote, at);
      if (at < 0) this.#unclosed.add(quote);
      else if (this.#text[at - 1] !== '\\' || /(?<!\\)(?:\\\\)+$/.test(this.#text.slice(Math.max(start, at - 64), at)))
        return at + 1;
    }
    return Math.max(start, this.#line.end);
  }

  #groupEnd(start: number): number {
    const open = this.#text[start] ?? '';
    const signs = new RegExp(`[\\${open}\\${CLOSING[open]}]`, 'g');
    signs.lastIndex = start;
    let depth = 0;
    for (let match = signs.exec(this.#text); match; match = signs.exec(this.#text)) {
      depth += match[0] === open ? 1 : -1;
      if (depth === 0) return match.index + 1;
    }
    return this.#text.length;
  }

  #heredocEnd(word: string): number {
    const end = new RegExp(`^[ \\t]*${word}\\r?$`, 'gm');
    end.lastIndex = this.#line.end;
    return end.exec(this.#text)?.index ?? this.#text.length;
  }

  #closingEnd(sign: string, from: number): number {
    const end = this.#text.indexOf(sign, from);
    return end < 0 ? this.#text.length : end + sign.length;
  }

  /** The text of an element, to its end. */
  #elementBelow({ start, end }: TextRange): TextRange | undefined {
    const rest = this.#match(/[^<>]{0,1024}>/y, end);
    if (rest === '' || rest.endsWith('/>')) return undefined;
    const close = end + rest.length - 1;
    const stop = this.#text.indexOf(`</${this.#text.slice(start, end)}`, close);
    return { start: close + 1, end: stop < 0 ? this.#text.length : stop };
  }

  /** The lines below that are indented further than a name; or the next one, if it is no setting of its own. */
  #linesBelow(column: number, { isAssigned }: { isAssigned: boolean }): TextRange | undefined {
    let end = -1;
    let start = -1;
    for (let line = this.#lineAt(this.#line.end + 1); line.end > line.start || line.end < this.#text.length; ) {
      const text = this.#text.slice(line.start, line.end);
      const indent = text.search(/\S/);
      if (indent >= 0) {
        const isItem = isAssigned && indent >= column && /^-\s/.test(text.slice(indent, indent + 2));
        const isOnly = isAssigned && start < 0 && !/^\s*["']?[\w.-]{1,128}["']?\s{0,64}[=:](?:\s|$)/.test(text);
        if (indent <= column && !isItem && !isOnly) break;
        if (start < 0) start = line.start + indent;
        end = line.start + text.trimEnd().length;
        if (indent <= column && !isItem) break;
      }
      if (line.end >= this.#text.length) break;
      line = this.#lineAt(line.end + 1);
    }
    return start < 0 ? undefined : { start, end };
  }

  #lineAt(start: number): TextRange {
    const end = this.#text.indexOf('\n', start);
    return { start, end: end < 0 ? this.#text.length : end };
  }

  #match(pattern: RegExp, at: number): string {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }
}

/** The documents of YAML or JSON that are a Secret of Kubernetes: all of its data is secret. */
function findKubernetesSecrets(text: string): TextRange[] {
  let start = 0;
  return text.split(/^---/m).flatMap((document) => {
    const range = { start, end: start + document.length + 3 };
    start = range.end;
    return /\bkind["']?\s{0,8}:\s{0,8}["']?Secret\b/.test(document) ? [range] : [];
  });
}
