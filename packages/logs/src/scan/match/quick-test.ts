import { valueTest } from '../../query/match-query.ts';
import { resolveField } from '../../query/record-fields.ts';
import type { QueryNode } from '../../types.ts';
import { createFindLeaf } from './find-leaf.ts';
import type { RecordMatcher } from './record-matcher.ts';
import type { ScanTools } from './scan-part.ts';

/** Whether a record matches, which has a head; `undefined` if it must be decoded to know. */
type QuickTest = (bytes: Buffer, start: number, end: number) => boolean | undefined;

/**
 * Tests records by a field of their JSON without decoding them, which takes thirty times as long. `undefined` if no
 * condition can be tested so.
 */
export function createQuickTest(
  { conditions, findRegex }: RecordMatcher,
  { format, kernel }: Pick<ScanTools, 'format' | 'kernel'>,
): QuickTest | undefined {
  for (const node of conditions) {
    const found = leafTest(node, findRegex);
    const find = found && createFindLeaf(found.path, { format, kernel });
    if (!find) continue;
    const { foundValue } = kernel;
    const isOnly = conditions.length === 1;
    return (bytes, start, end) => {
      const isFound = find(bytes, start, end);
      if (isFound === undefined) return undefined;
      const holds = isFound && found.test(bytes.toString('utf8', foundValue[0] ?? 0, foundValue[1] ?? 0));
      return holds && !isOnly ? undefined : holds;
    };
  }
  return undefined;
}

/** What the only value of a leaf must pass: without one, none of these conditions holds. */
function leafTest(
  node: QueryNode,
  findRegex: RecordMatcher['findRegex'],
): { path: string; test: (value: string) => boolean } | undefined {
  if (node.kind !== 'field' && node.kind !== 'fieldRegex' && node.kind !== 'exists') return undefined;
  const ref = resolveField(node.field);
  if (!('leaf' in ref)) return undefined;
  const path = ref.leaf;
  if (node.kind === 'exists') return { path, test: () => true };
  if (node.kind === 'field') {
    const test = valueTest(node, ref);
    return { path, test: node.operator === '!=' ? (value) => !test(value) : test };
  }
  const regex = findRegex?.(node);
  return regex && { path, test: (value) => regex.test(value) };
}
