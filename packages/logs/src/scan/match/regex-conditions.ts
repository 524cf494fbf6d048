import type { RecordFields } from '../../parse/format.ts';
import { regexNodes } from '../../query/filter-to-query.ts';
import { compileQuery } from '../../query/match-query.ts';
import { fieldValues } from '../../query/record-fields.ts';
import type { FieldRegexNode, QueryNode, RecordFilter, RegexNode } from '../../types.ts';
import { RecordMatcher } from './record-matcher.ts';

/** Which of the texts the filter's regex matches, computed elsewhere: a single text may take seconds. */
export type MatchTexts = (
  filter: Pick<RecordFilter, 'regex' | 'caseSensitive'>,
  texts: readonly Buffer[],
) => Promise<boolean[]>;

/** A record as regexes need it. */
export interface DecodedRecord {
  fields(): RecordFields;
  text(): string;
}

/** The conditions of a filter that contain a regex. */
export class RegexConditions {
  /** All of them, as filters of their own. */
  readonly regexes: readonly Pick<RecordFilter, 'regex' | 'caseSensitive'>[];
  readonly #node: QueryNode;
  readonly #regexNodes: readonly (RegexNode | FieldRegexNode)[];
  /** Most regexes are searched for in the text: then records need not be parsed. */
  readonly #usesFields: boolean;

  /** `undefined` if the filter has no regex. */
  static of(filter: RecordFilter): RegexConditions | undefined {
    const nodes = new RecordMatcher(filter).conditions.filter((node) => regexNodes(node).length > 0);
    return nodes.length > 0 ? new RegexConditions({ kind: 'and', nodes }) : undefined;
  }

  private constructor(node: QueryNode) {
    this.#node = node;
    this.#regexNodes = regexNodes(node);
    this.#usesFields = usesFields(node);
    this.regexes = this.#regexNodes.map(toFilter);
  }

  /** For each record whether all of them hold. The texts of all records are tested together, regex by regex. */
  async decide(records: readonly DecodedRecord[], matchTexts: MatchTexts): Promise<boolean[]> {
    const known = new Map<string, Map<string, boolean>>();
    for (const node of this.#regexNodes) {
      const results = known.get(regexKey(node)) ?? new Map<string, boolean>();
      known.set(regexKey(node), results);
      const texts = [...new Set(records.flatMap((record) => textsFor(node, record)))];
      const matches = await matchTexts(
        toFilter(node),
        texts.map((text) => Buffer.from(text)),
      );
      for (const [index, text] of texts.entries()) results.set(text, matches[index] ?? false);
    }
    const holds = compileQuery(this.#node, (pattern, { caseSensitive }) => {
      const results = known.get(regexKey({ pattern, caseSensitive }));
      return { test: (text) => results?.get(text) ?? false };
    });
    return records.map((record) => holds(this.#usesFields ? record.fields() : NO_FIELDS, record.text));
  }
}

const NO_FIELDS: RecordFields = { message: '' };

function usesFields(node: QueryNode): boolean {
  if (node.kind === 'and' || node.kind === 'or') return node.nodes.some(usesFields);
  return node.kind === 'not' ? usesFields(node.node) : node.kind !== 'text' && node.kind !== 'regex';
}

function textsFor(node: RegexNode | FieldRegexNode, record: DecodedRecord): string[] {
  return node.kind === 'regex' ? [record.text()] : fieldValues(record.fields(), node.field);
}

function toFilter({
  pattern,
  caseSensitive,
}: RegexNode | FieldRegexNode): Pick<RecordFilter, 'regex' | 'caseSensitive'> {
  return { regex: pattern, ...(caseSensitive && { caseSensitive }) };
}

function regexKey({ pattern, caseSensitive }: { pattern: string; caseSensitive?: boolean }): string {
  return `${caseSensitive ?? false}:${pattern}`;
}
