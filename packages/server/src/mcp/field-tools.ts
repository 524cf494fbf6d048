import { type ClusterFields, type ClusterTop, isDistinctMinimum } from '@porthole/contract';
import { toIso, toSelection } from './config-tools.ts';
import { countNodes, describeGaps } from './coverage.ts';
import { BUDGET_MS, count, FILTERS, SELECTION, toCount, toFilter } from './record-arguments.ts';
import { cutText } from './tool-result.ts';
import type { Tool } from './tools.ts';

const MOST_VALUES = 100;
const DEFAULT_VALUES = 20;
const MOST_FIELDS = 200;
const DEFAULT_FIELDS = 60;

/** Characters of one value. */
const VALUE_CHARACTERS = 200;

/** Members named with each value: those of the most records. */
const MOST_NODES = 20;

/** Fields of records, and the values they have. */
export const FIELD_TOOLS: readonly Tool[] = [
  {
    name: 'list_fields',
    title: 'List fields',
    description:
      'The fields of records: names as "query" and top_values take them, types, how many records have each, how many different values, examples. Ask this before writing a "query".',
    input: { ...FILTERS, ...SELECTION, limit: count(MOST_FIELDS, DEFAULT_FIELDS, 'fields, those of the most records') },
    async run(args, context) {
      const { client, signal } = context;
      const limit = toCount(args.limit, DEFAULT_FIELDS);
      const query = { ...(await toFilter(args, context)), ...toSelection(args), limit };
      const found = await client.cluster.logFields(query, { signal, budgetMs: BUDGET_MS });
      const gaps = [...describeGaps(found), ...describeCounted(found)];
      if (found.isSample) gaps.push('there is much to read: only some of the records were examined');
      if (found.totalFields > found.fields.length)
        gaps.push(`at least ${found.totalFields - found.fields.length} rarer fields are left out`);
      return {
        coverage: { about: `every field of matching records of ${countNodes(found.members)}`, gaps },
        data: {
          examinedRecords: found.records,
          fields: found.fields.map((field) => ({
            name: field.name,
            types: field.types,
            records: field.records,
            differentValues: describeDistinct(field),
            examples: field.examples.map((example) => cutText(example, VALUE_CHARACTERS)),
          })),
        },
      };
    },
  },
  {
    name: 'top_values',
    title: 'Count records by value',
    description:
      'Counts records by the value of a field: the most frequent values with their counts, in total and by node, how many records have other values, and how many lack the field. Says whether counts are exact or estimated. Use it for questions like "which shard fails most": field "shard", level "error".',
    input: {
      field: { type: 'string', description: 'The field: level, source, component, or a name of list_fields.' },
      ...FILTERS,
      ...SELECTION,
      limit: count(MOST_VALUES, DEFAULT_VALUES, 'values, the most frequent first'),
    },
    required: ['field'],
    async run(args, context) {
      const { client, signal } = context;
      const limit = toCount(args.limit, DEFAULT_VALUES);
      const query = { by: String(args.field), ...(await toFilter(args, context)), ...toSelection(args), limit };
      const top = await client.cluster.logTop(query, { signal, budgetMs: BUDGET_MS });
      const gaps = [...describeGaps(top), ...describeCounted(top)];
      if (!top.isExact)
        gaps.push('the counts are estimated, because there are very many values: "atMost" is the upper bound of each');
      return {
        coverage: { about: `the count of every matching record of ${countNodes(top.members)} by this field`, gaps },
        data: describeTop(top),
      };
    },
  },
];

function describeDistinct(field: ClusterFields['fields'][number]): number | string {
  if (isDistinctMinimum(field)) return `at least ${field.distinct}`;
  return field.isDistinctExact ? field.distinct : `about ${field.distinct}`;
}

function describeTop({ by, values, others, missing, distinct, isExact }: ClusterTop) {
  return {
    field: by,
    counts: isExact ? 'exact' : 'estimated',
    values: values.map(({ value, count: records, error, nodes }) => ({
      value: cutText(value, VALUE_CHARACTERS),
      records,
      ...(error !== undefined && { atMost: records + error }),
      nodes: Object.fromEntries(
        Object.entries(nodes)
          .sort(([, a], [, b]) => b - a)
          .slice(0, MOST_NODES),
      ),
    })),
    recordsWithOtherValues: others,
    recordsWithoutTheField: missing,
    differentValues: isExact ? distinct : `about ${distinct}`,
  };
}

function describeCounted({ counted }: Pick<ClusterTop | ClusterFields, 'counted'>): string[] {
  if (counted === null) return [];
  return [`only records from ${toIso(counted.fromMs)} to ${toIso(counted.toMs)} were counted by every node`];
}
