import type { QueryNode } from '@porthole/logs/query';
import type { DigestGroup } from '@porthole/logs/types';

/** More of them hardly select less. */
const MAX_TEXTS = 3;

const MAX_CHARACTERS = 200;

/**
 * The longest parts that the messages of a shape have in common: a record with all of them is most likely of it. JSON may
 * have escaped what is at a quote. In a shape, one space stands for any white space: a part that this message does not
 * have as it is counts by its words.
 */
export function shapeTexts(shape: string, message: string): string[] {
  return shape
    .split(/\*|["\\]/)
    .map((part) => part.trim())
    .flatMap((part) => (message.includes(part) ? part : part.split(' ')))
    .filter((part) => part.length > 2)
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_TEXTS)
    .map((part) => part.slice(0, MAX_CHARACTERS));
}

interface PatternFacts extends Pick<DigestGroup, 'level' | 'source' | 'shape'> {
  sample: { message: string };
}

/** The query for the records of a pattern: by their call site, or by what their messages have in common. */
export function patternQuery({ level, source, shape, sample }: PatternFacts): QueryNode | undefined {
  const texts = source === null ? shapeTexts(shape ?? '', sample.message) : [];
  const own: QueryNode[] = source === null ? texts.map((text) => ({ kind: 'text', text })) : [equals('source', source)];
  const nodes = [...(level === null ? [] : [equals('level', level)]), ...own];
  if (own.length === 0) return undefined;
  return nodes.length === 1 ? nodes[0] : { kind: 'and', nodes };
}

function equals(field: string, value: string): QueryNode {
  return { kind: 'field', field, operator: '=', value };
}
