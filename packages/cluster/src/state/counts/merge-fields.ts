import type { ClusterFields } from '@porthole/contract';
import type { FieldSummary, Fields, FieldType } from '@porthole/logs/types';

/** The fields of a member. */
export interface MemberFields {
  id: string;
  fields: Omit<Fields, 'end'>;
}

/** Values shown of a field; as many as a node shows. */
const MAX_EXAMPLES = 10;

type MergedFields = Omit<ClusterFields, 'members' | 'counted'>;

/** A field as each member that has it describes it. */
type MemberParts = { id: string; field: FieldSummary }[];

/** The fields of all members, those of the most records first. */
export function mergeFields(members: readonly MemberFields[], { limit }: { limit: number }): MergedFields {
  const merged = new Map<string, MemberParts>();
  for (const { id, fields } of members)
    for (const field of fields.fields) merged.set(field.name, [...(merged.get(field.name) ?? []), { id, field }]);
  const all = [...merged].map(([name, parts]) => mergeField(name, parts)).sort(compareFields);
  return {
    fields: all.slice(0, limit),
    // Which of its other fields a member shares with others is not known.
    totalFields: Math.max(all.length, ...members.map(({ fields }) => fields.totalFields)),
    records: members.reduce((sum, { fields }) => sum + fields.records, 0),
    isSample: members.some(({ fields }) => fields.isSample),
  };
}

function compareFields(a: FieldSummary, b: FieldSummary): number {
  return b.records - a.records || (a.name < b.name ? -1 : 1);
}

function mergeField(name: string, parts: MemberParts): ClusterFields['fields'][number] {
  const fields = parts.map(({ field }) => field);
  const [only] = fields;
  return {
    name,
    types: mergeTypes(fields),
    records: fields.reduce((sum, { records }) => sum + records, 0),
    // Members may have the same values or others: it is at least that of the one with the most.
    distinct: Math.max(...fields.map(({ distinct }) => distinct)),
    isDistinctExact: fields.length === 1 && only?.isDistinctExact === true,
    examples: mergeExamples(fields),
    nodes: Object.fromEntries(parts.map(({ id, field }) => [id, field.records])),
  };
}

/** By how many records of members have the type first. */
function mergeTypes(fields: readonly FieldSummary[]): FieldType[] {
  const weights = new Map<FieldType, number>();
  for (const { types, records } of fields)
    for (const [rank, type] of types.entries()) weights.set(type, (weights.get(type) ?? 0) + records / (rank + 1));
  return [...weights].sort(([, a], [, b]) => b - a).map(([type]) => type);
}

/** The first of each member, then the second of each, and so on. */
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
