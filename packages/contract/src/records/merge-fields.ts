import type { FieldSummary, Fields, FieldType } from '@porthole/logs/types';

/** The fields of one log or member. */
export interface FieldsSource {
  /** Names it in `nodes` of the merged fields. */
  id: string;
  fields: Pick<Fields, 'fields' | 'totalFields' | 'records' | 'isSample'>;
}

export interface MergedField extends FieldSummary {
  /** Records of each source that has the field, by its id. */
  nodes: Record<string, number>;
}

/** Values shown of a field. */
const MAX_EXAMPLES = 10;

type MergedFields = Omit<FieldsSource['fields'], 'fields'> & { fields: MergedField[] };

/** A field as each source that has it describes it. */
type FieldParts = { id: string; field: FieldSummary }[];

/** The fields of several logs or members, none of which is part of another; those of the most records first. */
export function mergeFields(sources: readonly FieldsSource[], { limit }: { limit: number }): MergedFields {
  const merged = new Map<string, FieldParts>();
  for (const { id, fields } of sources)
    for (const field of fields.fields) merged.set(field.name, [...(merged.get(field.name) ?? []), { id, field }]);
  const all = [...merged].map(([name, parts]) => mergeField(name, parts)).sort(compareFields);
  return {
    fields: all.slice(0, limit),
    // Which of its other fields a source shares with others is not known.
    totalFields: Math.max(all.length, ...sources.map(({ fields }) => fields.totalFields)),
    records: sources.reduce((sum, { fields }) => sum + fields.records, 0),
    isSample: sources.some(({ fields }) => fields.isSample),
  };
}

function compareFields(a: FieldSummary, b: FieldSummary): number {
  return b.records - a.records || (a.name < b.name ? -1 : 1);
}

function mergeField(name: string, parts: FieldParts): MergedField {
  const fields = parts.map(({ field }) => field);
  return {
    name,
    types: mergeTypes(fields),
    records: fields.reduce((sum, { records }) => sum + records, 0),
    ...mergeDistinct(fields),
    examples: mergeExamples(fields),
    nodes: Object.fromEntries(parts.map(({ id, field }) => [id, field.records])),
  };
}

/** Sources may have the same values or others, which is known only of those that show all of theirs. */
function mergeDistinct(fields: readonly FieldSummary[]): Pick<FieldSummary, 'distinct' | 'isDistinctExact'> {
  const [only] = fields;
  if (only && fields.length === 1) return { distinct: only.distinct, isDistinctExact: only.isDistinctExact };
  const shown = new Set(fields.flatMap(({ examples }) => examples)).size;
  if (fields.every(showsAll)) return { distinct: shown, isDistinctExact: true };
  return { distinct: Math.max(shown, ...fields.map(({ distinct }) => distinct)), isDistinctExact: false };
}

/** Of cut values several may look the same. */
function showsAll({ distinct, isDistinctExact, examples }: FieldSummary): boolean {
  return isDistinctExact && examples.length === distinct && !examples.some((example) => example.endsWith('…'));
}

/** Whether there are at least `distinct` values, and may be many more: what several sources share is not known. */
export function isDistinctMinimum({ isDistinctExact, nodes = {} }: FieldSummary & Partial<MergedField>): boolean {
  return !isDistinctExact && Object.keys(nodes).length > 1;
}

/** By how many records of sources have the type first. */
function mergeTypes(fields: readonly FieldSummary[]): FieldType[] {
  const weights = new Map<FieldType, number>();
  for (const { types, records } of fields)
    for (const [rank, type] of types.entries()) weights.set(type, (weights.get(type) ?? 0) + records / (rank + 1));
  return [...weights].sort(([, a], [, b]) => b - a).map(([type]) => type);
}

/** The first of each source, then the second of each, and so on. */
function mergeExamples(fields: readonly FieldSummary[]): string[] {
  const examples = new Set<string>();
  const most = Math.max(...fields.map((field) => field.examples.length));
  for (let rank = 0; rank < most; rank++)
    for (const field of fields) {
      const example = field.examples[rank];
      if (example !== undefined) examples.add(example);
    }
  return [...examples].slice(0, MAX_EXAMPLES);
}
