import {
  type ClusterEnd,
  type ClusterFields,
  type ClusterItem,
  type ClusterRecord,
  type ClusterTop,
  contextJson,
  isDistinctMinimum,
  PortholeError,
} from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs';
import { toIso, toSelection } from './config-tools.ts';
import {
  type Args,
  BUDGET_MS,
  count,
  countNodes,
  cutText,
  describeGaps,
  describeSearch,
  FILTERS,
  MEMBERS,
  readTimes,
  SELECTION,
  shownCharacters,
  TIME,
  type Tool,
  type ToolContext,
  type ToolResult,
  toCount,
  toFilter,
} from './tool.ts';

const MOST_RECORDS = 200;
const DEFAULT_RECORDS = 40;
const MOST_GROUPS = 100;
const DEFAULT_GROUPS = 30;

/** Characters of one record that was asked for by itself. */
const RECORD_CHARACTERS = 50_000;

const CURSOR = { type: 'string', description: '"cursor" of a record, from another tool.' } as const;
const NODE = { type: 'string', description: '"node" of that record.' } as const;

const CURSORS = {
  type: 'boolean',
  description: 'End each line with the cursor of its record, for get_record and logs_around.',
} as const;

/** What nodes have logged. */
export const RECORD_TOOLS: readonly Tool[] = [
  {
    name: 'search_logs',
    title: 'Search logs',
    description:
      'Records of all nodes, merged by time, newest first. Give "since" whenever you can. Long records are cut; get_record returns them whole.',
    input: {
      ...FILTERS,
      ...SELECTION,
      order: { type: 'string', enum: ['newest', 'oldest'], description: 'Which come first. Default: newest.' },
      limit: count(MOST_RECORDS, DEFAULT_RECORDS, 'records'),
      cursors: CURSORS,
      cursor: { type: 'string', description: 'Continues a search with the same arguments: "cursor" of its result.' },
    },
    async run(args, context) {
      const { client, signal } = context;
      const limit = toCount(args.limit, DEFAULT_RECORDS);
      const order = args.order === 'oldest' ? 'oldest' : 'newest';
      const start = typeof args.cursor === 'string' ? { start: { cursor: args.cursor } } : {};
      const query = { ...(await toFilter(args, context)), ...toSelection(args), order, limit, ...start } as const;
      const batches = client.search({ nodes: ['*'], ...query }, { signal, budgetMs: BUDGET_MS });
      return collectRecords(batches, { limit, cursors: args.cursors === true });
    },
  },
  {
    name: 'digest_logs',
    title: 'Group records',
    description:
      'Groups records that come from the same line of code, or have the same text but for what varies, with counts, times and a sample: what is frequent, and with "new_since" what is new. The first thing to ask about an incident.',
    input: {
      ...FILTERS,
      ...SELECTION,
      new_since: {
        type: 'string',
        description: `Marks groups that never occurred before this time, as far as logs go back: ${TIME}.`,
      },
      only_new: { type: 'boolean', description: 'Only groups that are new, or of which this is not known.' },
      limit: count(MOST_GROUPS, DEFAULT_GROUPS, 'groups, the largest first'),
    },
    async run(args, context) {
      const { client, signal } = context;
      const limit = toCount(args.limit, DEFAULT_GROUPS);
      const newSinceMs = (await readTimes(context, { new_since: args.new_since })).new_since;
      const query = {
        ...(await toFilter(args, context)),
        ...toSelection(args),
        limit,
        ...(newSinceMs !== undefined && { newSinceMs }),
        ...(args.only_new === true && { onlyNew: true }),
      };
      const response = await client.digest({ nodes: ['*'], ...query }, { signal, budgetMs: BUDGET_MS });
      const { groups, totalGroups, ungrouped, baseline, members } = response;
      const gaps = describeGaps(response);
      if (totalGroups > groups.length) gaps.push(`about ${totalGroups - groups.length} smaller groups are left out`);
      if (ungrouped > 0) gaps.push(`${ungrouped} records are in no group, because there were too many groups`);
      if (newSinceMs !== undefined && !baseline?.isComplete)
        gaps.push(
          `what is new is not known: older records were not all read: ${baseline?.detail ?? 'for an unknown reason'}`,
        );
      return {
        coverage: { about: `every group of matching records of ${countNodes(members)}`, gaps },
        data: groups.map(
          ({ sample, firstMs, lastMs, level, source, shape, count: records, isNew, isNewUnknown, nodes }) => ({
            records,
            level,
            source,
            ...(shape !== null && { shape }),
            ...(newSinceMs !== undefined && { isNew: isNewUnknown || !baseline ? 'not known' : isNew }),
            first: toIso(firstMs),
            last: toIso(lastMs),
            nodes,
            sample: describeRecord(sample, shownCharacters(limit)),
          }),
        ),
      };
    },
  },
  {
    name: 'logs_around',
    title: 'Records around a time',
    description: 'What every node logged around a time, or around a record, oldest first: what led to it, and where.',
    input: {
      time: { type: 'string', description: `The time: ${TIME}. Or give "node" and "cursor" of a record.` },
      node: NODE,
      cursor: CURSOR,
      seconds: { type: 'number', exclusiveMinimum: 0, maximum: 3600, description: 'Before and after. Default: 5.' },
      ...MEMBERS,
      store: SELECTION.store,
      limit: count(100, 20, 'records of each node'),
      cursors: CURSORS,
    },
    async run(args, context) {
      const limit = toCount(args.limit, 20);
      const spanMs = (typeof args.seconds === 'number' ? args.seconds : 5) * 1000;
      const at = await toTarget(args, context);
      const request = { at, beforeMs: spanMs, afterMs: spanMs, limit, ...toSelection(args) };
      const batches = context.client.around({ nodes: ['*'], ...request }, { signal: context.signal });
      return collectRecords(batches, { limit: MOST_RECORDS, cursors: args.cursors === true });
    },
  },
  {
    name: 'get_record',
    title: 'Get one record',
    description: 'One record with its whole text, and records of the same log before and after it.',
    input: {
      node: NODE,
      cursor: CURSOR,
      before: { type: 'integer', minimum: 0, maximum: 50, description: 'Records before it. Default: 0.' },
      after: { type: 'integer', minimum: 0, maximum: 50, description: 'Records after it. Default: 0.' },
    },
    required: ['node', 'cursor'],
    async run({ node, cursor, before, after }, { client, signal }) {
      const around = { before: toCount(before, 0), after: toCount(after, 0) };
      const query = { start: { record: String(cursor) }, order: 'oldest', limit: 1, raw: true, ...around } as const;
      for await (const items of client.node(String(node)).search(query, { signal })) {
        for (const item of items) {
          if (item.type !== 'record') continue;
          const { raw = '', before: earlier = [], after: later = [] } = item;
          const gaps = [
            ...(item.cut ? ['the record is longer than what a node returns'] : []),
            ...(raw.length > RECORD_CHARACTERS ? [`its text is cut after ${RECORD_CHARACTERS} characters`] : []),
          ];
          const most = shownCharacters(earlier.length + later.length + 1);
          const describe = (record: FoundRecord) => describeRecord({ node: String(node), ...record }, most);
          const data = {
            record: { ...describe(item), text: cutText(raw, RECORD_CHARACTERS) },
            before: earlier.map(describe),
            after: later.map(describe),
          };
          return { coverage: { about: 'the whole record', gaps }, data };
        }
      }
      throw new PortholeError('CURSOR_GONE', 'the record no longer exists');
    },
  },
];

/** A merged search, one line for each record, with its coverage. */
export async function collectRecords(
  batches: AsyncIterable<ClusterItem[]>,
  { limit, cursors = false, textOf = messageText }: CollectOptions,
): Promise<ToolResult> {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  for await (const items of batches) {
    for (const item of items) {
      if (item.type === 'end') end = item;
      else records.push(item);
    }
  }
  if (!end) throw new PortholeError('INTERNAL', 'the node sent no end of its response');
  const shown = records.slice(0, MOST_RECORDS);
  const coverage = describeSearch(end, limit);
  if (shown.length < records.length)
    coverage.gaps.push(`${records.length - shown.length} of ${records.length} records are left out: ask for fewer`);
  const most = shownCharacters(Math.max(1, shown.length));
  const lines = shown.map((record) => recordLine(record, { most, cursors, textOf }));
  return { coverage, lines, ...(end.cursor !== null && { next: `cursor: ${end.cursor}` }) };
}

interface CollectOptions {
  limit: number;
  cursors?: boolean;
  textOf?: (record: ClusterRecord) => string;
}

interface LineOptions extends Required<Pick<CollectOptions, 'cursors' | 'textOf'>> {
  most: number;
}

function recordLine(record: ClusterRecord, { most, cursors, textOf }: LineOptions): string {
  const { atMs, timeMs, level, node, file, cursor, isUnsure } = record;
  const time = toIso(atMs ?? timeMs) ?? 'without time';
  const parts = [`${isUnsure ? '~' : ''}${time}`, level ?? '-', node, file, cutText(textOf(record), most)];
  return [...parts, ...(cursors ? [`cursor=${cursor}`] : [])].join(' ');
}

function messageText(record: ClusterRecord): string {
  const context = contextJson(record);
  const source = record.source === undefined ? '' : `(${record.source}) `;
  return `${source}${record.message}${context === undefined ? '' : ` ${context}`}`;
}

function describeRecord(record: FoundRecord & { node: string; atMs?: number }, most: number) {
  const { node, file, level, source, tags, message, cursor, isUnsure } = record as ClusterRecord;
  const context = contextJson(record);
  return {
    time: toIso(record.atMs ?? record.timeMs),
    ...(isUnsure && { orderIsUnsure: true }),
    node,
    file,
    ...(level && { level }),
    ...(source !== undefined && { source }),
    ...(tags && { tags: tags.slice(0, 10) }),
    message: cutText(message, most),
    ...(context !== undefined && { context: cutText(context, most) }),
    cursor,
  };
}

async function toTarget({ time, node, cursor }: Args, context: ToolContext) {
  if (typeof node === 'string' && typeof cursor === 'string') return { node, cursor };
  const { time: timeMs } = await readTimes(context, { time });
  if (timeMs === undefined)
    throw new PortholeError('PARAMETER_INVALID', 'give either "time", or "node" and "cursor" of a record');
  return { timeMs };
}

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
      const found = await client.fields({ nodes: ['*'], ...query }, { signal, budgetMs: BUDGET_MS });
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
      const top = await client.top({ nodes: ['*'], ...query }, { signal, budgetMs: BUDGET_MS });
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
