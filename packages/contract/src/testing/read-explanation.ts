import type { FieldOperator, QueryNode } from '@porthole/logs/query';

/** Parses the words of `explainQuery` back, to prove that they can be read in one way only. Throws if they cannot. */
export function readExplanation(words: string): QueryNode | undefined {
  if (words === 'every record') return undefined;
  const reader = new ExplanationReader(words);
  const node = reader.readList();
  if (!reader.isAtEnd) throw new Error(`left over: ${reader.rest}`);
  return node;
}

const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const BARE = /[^\s"(),]+/y;
const REGEX = /\/((?:[^/\\]|\\.)*)\//sy;
const ORDER: Readonly<Record<string, FieldOperator>> = {
  'less than ': '<',
  'at most ': '<=',
  'more than ': '>',
  'at least ': '>=',
};

class ExplanationReader {
  readonly #words: string;
  #at = 0;

  constructor(words: string) {
    this.#words = words;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#words.length;
  }

  get rest(): string {
    return this.#words.slice(this.#at);
  }

  /** Operands up to the end or a closing parenthesis. */
  readList(): QueryNode {
    const nodes = [this.#readOperand()];
    for (;;) {
      const kind = this.#takeOne(' and ', ', and ', ', or ');
      if (kind === undefined && !this.#take(', ')) break;
      nodes.push(this.#readOperand());
      if (kind !== undefined) return { kind: kind.trim().endsWith('or') ? 'or' : 'and', nodes };
    }
    const [only] = nodes;
    if (only === undefined || nodes.length > 1) throw new Error(`no conjunction before: ${this.rest}`);
    return only;
  }

  #readOperand(): QueryNode {
    if (this.#take('not (')) return { kind: 'not', node: this.#closed(this.readList()) };
    if (this.#take('(')) return this.#closed(this.readList());
    if (this.#take('the text ')) return this.#readText();
    return this.#readField(this.#readString());
  }

  #closed<Node>(node: Node): Node {
    if (!this.#take(')')) throw new Error(`no closing parenthesis: ${this.rest}`);
    return node;
  }

  #readText(): QueryNode {
    const verb = this.#takeOne('contains ', 'does not contain ', 'matches ', 'does not match ');
    const isRegex = verb?.includes('match') ?? false;
    const node: QueryNode = isRegex
      ? { kind: 'regex', pattern: this.#readPattern(), ...this.#readCase() }
      : { kind: 'text', text: this.#readString(), ...this.#readCase() };
    return negateIf(verb?.includes('not') ?? false, node);
  }

  #readField(field: string): QueryNode {
    if (this.#take(' exists')) return { kind: 'exists', field };
    if (this.#take(' is missing')) return { kind: 'not', node: { kind: 'exists', field } };
    const match = this.#takeOne(' matches ', ' does not match ');
    if (match !== undefined) {
      const node: QueryNode = { kind: 'fieldRegex', field, pattern: this.#readPattern(), ...this.#readCase() };
      return negateIf(match.includes('not'), node);
    }
    if (this.#take(' has another value than ')) return this.#readValue(field, '!=', 'one like ');
    const isNegated = this.#takeOne(' does not contain ', ' is not ');
    const isContained = isNegated?.includes('contain') || (!isNegated && this.#take(' contains '));
    if (!isNegated && !isContained && !this.#take(' is ')) throw new Error(`no verb: ${this.rest}`);
    if (isContained) this.#takeOne('the words ', 'the word ');
    const node = isContained ? this.#readValue(field, ':', 'words like ') : this.#readComparison(field);
    if (isNegated && !this.#take(' (or missing)')) throw new Error(`no hint: ${this.rest}`);
    return negateIf(isNegated !== undefined, node);
  }

  #readComparison(field: string): QueryNode {
    if (field === 'level') return this.#readLevel();
    const order = this.#takeOne(...Object.keys(ORDER));
    return this.#readValue(field, (order && ORDER[order]) || '=', 'like ');
  }

  #readLevel(): QueryNode {
    const than = this.#takeOne('lower than ', 'higher than ');
    const value = this.#readString().toLowerCase();
    const or = this.#takeOne(' or higher', ' or lower');
    const operator = than ? (than.startsWith('lower') ? '<' : '>') : or ? (or.endsWith('lower') ? '<=' : '>=') : '=';
    return { kind: 'field', field: 'level', operator, value };
  }

  #readValue(field: string, operator: FieldOperator, like: string): QueryNode {
    const wildcard = this.#take(like) ? { wildcard: true as const } : {};
    const value = field === 'level' ? this.#readString().toLowerCase() : this.#readString();
    return { kind: 'field', field, operator, value, ...wildcard };
  }

  #readCase(): { caseSensitive?: true } {
    return this.#take(' (case-sensitive)') ? { caseSensitive: true } : {};
  }

  #readString(): string {
    const quoted = this.#match(QUOTED);
    if (quoted) return (quoted[1] ?? '').replace(/\\(["\\])/g, '$1');
    const bare = this.#match(BARE);
    if (!bare) throw new Error(`no text: ${this.rest}`);
    return bare[0];
  }

  #readPattern(): string {
    const body = this.#match(REGEX)?.[1] ?? '';
    return body.replace(/\\(.)/gs, (pair, escaped: string) => (escaped === '/' ? '/' : pair));
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#words);
    this.#at += match?.[0].length ?? 0;
    return match;
  }

  #take(text: string): boolean {
    if (!this.#words.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #takeOne(...texts: string[]): string | undefined {
    return texts.find((text) => this.#take(text));
  }
}

function negateIf(isNegated: boolean, node: QueryNode): QueryNode {
  return isNegated ? { kind: 'not', node } : node;
}
