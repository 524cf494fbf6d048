import {
  absenceText,
  type ClusterDigest,
  type ClusterFields,
  type ClusterHistogram,
  type ClusterTop,
  exactJson,
  isDistinctMinimum,
  parseSpan,
  type SearchOptions,
} from '@porthole/contract';
import {
  type DigestQuery,
  type FieldsQuery,
  type HistogramQuery,
  nearestNames,
  type TopQuery,
  type Zone,
} from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatChart } from '../../output/format-chart.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatTop } from '../../output/format-top.ts';
import { formatInstant, formatTime } from '../../output/format-units.ts';
import { Progress } from '../../output/progress.ts';
import { csvRow } from '../../output/record-layout.ts';
import { visibleText } from '../../output/visible-text.ts';
import { Receipt } from '../../records/receipt.ts';
import { explainFilter, recordFilter, shownZone, sourceClock, timeFlag } from '../../records/record-flags.ts';
import { meantText } from '../../sources/find-path.ts';
import type { LogSource } from '../../sources/log-source.ts';
import { explainMissingLog, openSources } from '../../sources/open-sources.ts';

/* Commands that count records: each queries its sources one after the other. */

const DEFAULT_GROUPS = 50;
const DEFAULT_FIELDS = 100;
const DEFAULT_BUCKETS = 40;
const DEFAULT_VALUES = 10;

/** Prints groups of similar records with their counts. */
export function digest(invocation: Invocation): Promise<number> {
  return countRecords(invocation, {
    query: (source, zone, options) => source.state.digest(digestQuery(invocation, source, zone), options),
    text: (found, zone, source) => formatDigest(found, invocation, { zone, hasNodes: source.nodes !== undefined }),
    isEmpty: ({ groups }) => groups.length === 0,
  });
}

/** Prints the fields of matching records: types, how many records have them, how many values there are. */
export function fields(invocation: Invocation): Promise<number> {
  const limit = invocation.number('limit') ?? DEFAULT_FIELDS;
  return countRecords(invocation, {
    query: (source, zone, options) =>
      source.state.fields({ ...selectedRecords(invocation, source, zone), limit } satisfies FieldsQuery, options),
    text: (found) => formatFields(found, invocation),
    isEmpty: ({ fields: listed }) => listed.length === 0,
  });
}

/** Prints record counts over time. */
export function histogram(invocation: Invocation): Promise<number> {
  return countRecords(invocation, {
    query: (source, zone, options) => {
      const buckets = Math.max(1, invocation.number('buckets') ?? DEFAULT_BUCKETS);
      const query: HistogramQuery = {
        ...selectedRecords(invocation, source, zone),
        buckets,
        ...bucketFlag(invocation),
      };
      return source.state.histogram(query, options);
    },
    text: (found, zone) => formatHistogram(found, invocation, zone),
    isEmpty: ({ buckets, untimed }) => buckets.length === 0 && untimed === 0,
  });
}

/** Prints the most frequent values of a field with their counts. */
export function top(invocation: Invocation): Promise<number> {
  const [by = '', ...targets] = invocation.args;
  return countRecords(invocation, {
    targets,
    query: (source, zone, options) => source.state.top(topQuery(invocation, { by, source, zone }), options),
    text: (found, zone, source) => formatCounts(found, invocation, () => listFields(invocation, source, zone)),
    isEmpty: ({ values }) => values.length === 0,
  });
}

type Count = ClusterHistogram | ClusterDigest | ClusterFields | ClusterTop;

interface CountOptions<T extends Count> {
  /** All arguments, unless given. */
  targets?: readonly string[];
  query(source: LogSource, zone: Zone, options: SearchOptions): Promise<T>;
  /** As it is printed, unless as JSON. */
  text(result: T, zone: Zone, source: LogSource): string | Promise<string>;
  isEmpty(result: T): boolean;
}

/** Queries the sources one after the other and prints their counts. Resolves with the exit code. */
async function countRecords<T extends Count>(
  invocation: Invocation,
  { targets = invocation.args, query, text, isEmpty }: CountOptions<T>,
): Promise<number> {
  if (invocation.isOn('explain')) return explainFilter(invocation);
  const signal = interruptSignal();
  const { terminal } = invocation;
  const { sources, close } = await openSources(invocation, targets);
  const receipt = new Receipt();
  const startedMs = performance.now();
  const progress = new Progress(
    terminal,
    () => `counting for ${((performance.now() - startedMs) / 1000).toFixed(0)} s; Ctrl-C to stop`,
  );
  try {
    const zone = shownZone(invocation, sources);
    let isNothing = true;
    let isCut = false;
    for (const source of sources) {
      const result = await query(source, zone, { signal });
      signal.throwIfAborted();
      progress.clear();
      // One node that answered alone says more of what it read.
      receipt.add(result.end ?? result, source);
      isNothing &&= isEmpty(result);
      isCut ||= result.end?.reason === 'time budget';
      if (sources.length > 1) terminal.note(`${source.label}:`);
      const target = sources.length > 1 ? { target: source.label } : {};
      const isJson = invocation.text('output') === 'json';
      await terminal.write(isJson ? `${exactJson({ ...result, ...target })}\n` : await text(result, zone, source));
    }
    progress.end();
    // Counts of a cluster do not report their bytes.
    const scanned = receipt.scannedBytes > 0 ? `; ${receipt.describe()}` : '';
    if (isNothing && terminal.isWatched) terminal.note(`${absenceText('no match', receipt.coverage)}${scanned}`);
    receipt.warn(terminal);
    if (isCut) terminal.warn('scan stopped by the time budget of the node; narrow the time range with --since');
    if (receipt.isPartial || isCut) return EXIT.partial;
    return isNothing ? EXIT.different : EXIT.ok;
  } catch (error) {
    throw signal.aborted ? signal.reason : await explainMissingLog(error, sources);
  } finally {
    progress.end();
    await close();
  }
}

function selectedRecords(invocation: Invocation, source: LogSource, zone: Zone) {
  return { ...source.selection, ...recordFilter(invocation, source, zone) };
}

function bucketFlag(invocation: Invocation): { bucketMs?: number } {
  const span = invocation.text('bucket');
  const bucketMs = span === undefined ? undefined : parseSpan(span);
  if (span !== undefined && !bucketMs)
    throw new ProgramError(`invalid --bucket ${JSON.stringify(span)}: expected a duration like 1m or 6h`);
  return bucketMs === undefined ? {} : { bucketMs };
}

const COUNT_COLUMN: Column = { title: 'COUNT', align: 'right' };

const GROUP_COLUMNS: readonly Column[] = [
  { title: 'LEVEL' },
  { title: 'WHERE', minWidth: 12 },
  { title: 'FIRST', hideRank: 3 },
  { title: 'LAST', hideRank: 2 },
  { title: 'NEWEST' },
];

/** More would leave no room for the other columns. */
const SHOWN_NODES = 2;

function digestQuery(invocation: Invocation, source: LogSource, zone: Zone): DigestQuery {
  const newSinceMs = timeFlag(invocation, 'new-since', sourceClock(source, zone));
  const onlyNew = invocation.isOn('only-new');
  if (onlyNew && newSinceMs === undefined) throw new ProgramError('--only-new needs --new-since');
  return {
    ...selectedRecords(invocation, source, zone),
    limit: invocation.number('limit') ?? DEFAULT_GROUPS,
    ...(newSinceMs !== undefined && { newSinceMs }),
    ...(onlyNew && { onlyNew }),
  };
}

function formatDigest(
  found: ClusterDigest,
  invocation: Invocation,
  { zone, hasNodes }: { zone: Zone; hasNodes: boolean },
): string {
  const { groups, totalGroups, ungrouped, baseline } = found;
  const time = (timeMs: number | null) => (timeMs === null ? '-' : formatTime(timeMs, zone).slice(0, 19));
  const rows = groups.map(({ level, source, shape, count, firstMs, lastMs, isNew, isNewUnknown, sample, nodes }) => [
    String(count),
    ...(hasNodes ? [formatNodes(nodes)] : []),
    level ?? '-',
    `${isNewUnknown || (isNew && !baseline) ? '? ' : isNew ? '* ' : ''}${visibleText(source ?? shape ?? '-')}`,
    time(firstMs),
    time(lastMs),
    visibleText(sample.message).replace(/\s+/g, ' '),
  ]);
  const columns = [COUNT_COLUMN, ...(hasNodes ? [{ title: 'NODES', hideRank: 1 }] : []), ...GROUP_COLUMNS];
  const { terminal } = invocation;
  if (totalGroups > groups.length)
    terminal.note(
      `${found.members.length > 1 ? 'about ' : ''}${totalGroups - groups.length} smaller groups not shown; raise --limit to see them`,
    );
  if (ungrouped > 0) terminal.note(`${ungrouped} records not grouped: too many groups`);
  for (const note of newNotes(found, invocation, time)) terminal.note(note);
  return groups.length === 0 ? '' : formatTable(columns, rows, terminal);
}

/** What the marks mean, and what they rest on. */
function newNotes(
  { groups, baseline }: ClusterDigest,
  invocation: Invocation,
  time: (timeMs: number) => string,
): string[] {
  if (invocation.text('new-since') === undefined || !baseline) return [];
  const { fromMs, isComplete, detail = 'for an unknown reason' } = baseline;
  const compared = fromMs === null ? 'nothing older matches' : `compared with records since ${time(fromMs)}`;
  return [
    ...(groups.some(({ isNew }) => isNew) ? [`* marks new groups; ${compared}`] : []),
    ...(groups.some(({ isNewUnknown }) => isNewUnknown) ? ['? marks groups that may be new'] : []),
    ...(isComplete ? [] : [`not known what else is new: older records were not all read: ${visibleText(detail)}`]),
  ];
}

/** Count per node, largest first. */
function formatNodes(nodes: Readonly<Record<string, number>>): string {
  const loudest = Object.entries(nodes).sort(([, a], [, b]) => b - a);
  const shown = loudest.slice(0, SHOWN_NODES).map(([id, count]) => `${visibleText(id)} ${count}`);
  const more = loudest.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`;
}

const FIELD_COLUMNS: readonly Column[] = [
  { title: 'FIELD', minWidth: 12 },
  { title: 'TYPE', hideRank: 1 },
  { title: 'RECORDS', align: 'right', hideRank: 2 },
  { title: 'VALUES', align: 'right' },
  { title: 'EXAMPLES' },
];

/** Longer examples say no more about what a field holds. */
const EXAMPLE_LENGTH = 40;

function formatFields(result: ClusterFields, invocation: Invocation): string {
  const { fields: listed, totalFields, records, isSample } = result;
  if (invocation.text('output') === 'names') return listed.map(({ name }) => `${name}\n`).join('');
  const { terminal } = invocation;
  if (isSample)
    terminal.note(`a sample: ${records} records were examined; narrow the time range with --since to examine all`);
  if (totalFields > listed.length)
    terminal.note(
      `${result.members.length > 1 ? 'at least ' : ''}${totalFields - listed.length} rarer fields not shown; raise --limit to see them`,
    );
  if (listed.length === 0) return '';
  const rows = listed.map((field) => [
    visibleText(field.name),
    field.types.join(', '),
    String(field.records),
    `${distinctMark(field)}${field.distinct}`,
    field.examples.map(formatExample).join(', '),
  ]);
  return formatTable(FIELD_COLUMNS, rows, terminal);
}

function distinctMark(field: ClusterFields['fields'][number]): '' | '~' | '>=' {
  if (isDistinctMinimum(field)) return '>=';
  return field.isDistinctExact ? '' : '~';
}

function formatExample(example: string): string {
  const line = visibleText(example).replace(/\s+/g, ' ');
  return line.length > EXAMPLE_LENGTH ? `${line.slice(0, EXAMPLE_LENGTH - 1)}…` : line;
}

const LEVELS = ['FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE', 'NONE'] as const;

function formatHistogram(found: ClusterHistogram, invocation: Invocation, zone: Zone): string {
  if (invocation.text('output') === 'tsv') return formatTsv(found, zone);
  const { untimed } = found;
  if (untimed > 0)
    invocation.terminal.note(`${untimed} ${untimed === 1 ? 'record' : 'records'} without a timestamp not shown`);
  return formatChart(found, zone, invocation.terminal);
}

function formatTsv({ buckets }: Pick<ClusterHistogram, 'buckets'>, zone: Zone): string {
  const rows = buckets.map(({ startMs, counts }) => [
    formatInstant(startMs, zone),
    ...LEVELS.map((level) => counts[level] ?? 0),
  ]);
  return [['time', ...LEVELS.map((level) => level.toLowerCase())], ...rows]
    .map((row) => `${row.join('\t')}\n`)
    .join('');
}

function topQuery(
  invocation: Invocation,
  { by, source, zone }: { by: string; source: LogSource; zone: Zone },
): TopQuery {
  const buckets = invocation.number('buckets');
  const values = invocation.texts('value');
  return {
    ...selectedRecords(invocation, source, zone),
    by,
    limit: invocation.number('limit') ?? DEFAULT_VALUES,
    ...(values.length > 0 && { values }),
    ...(buckets !== undefined && { buckets: Math.max(1, buckets) }),
    ...bucketFlag(invocation),
  };
}

/** The names of the fields that the records have, the most frequent first. */
async function listFields(invocation: Invocation, source: LogSource, zone: Zone): Promise<string[]> {
  const query: FieldsQuery = { ...selectedRecords(invocation, source, zone), limit: DEFAULT_FIELDS };
  const { fields: listed } = await source.state.fields(query);
  return listed.map(({ name }) => name);
}

/** Names that may have been meant, or some that there are. */
function suggestFields(name: string, names: readonly string[]): string {
  const near = meantText(nearestNames(name, names));
  if (near !== '' || names.length === 0) return near;
  const more = names.length > SHOWN_FIELDS ? ' ...; "porthole logs fields" lists all' : '';
  return visibleText(`; there are ${names.slice(0, SHOWN_FIELDS).join(', ')}${more}`);
}

/** More would not be read. */
const SHOWN_FIELDS = 20;

async function formatCounts(
  found: ClusterTop,
  invocation: Invocation,
  fieldNames: () => Promise<string[]>,
): Promise<string> {
  if (invocation.text('output') === 'csv')
    return [[found.by, 'count'], ...found.values.map(({ value, count }) => [value, String(count)])]
      .map(csvRow)
      .join('');
  const { terminal } = invocation;
  const { values, others, missing, isExact, distinct } = found;
  if (values.length + others + missing === 0) return '';
  if (values.length + others === 0)
    terminal.note(
      `no matching record has the field ${visibleText(found.by)}${suggestFields(found.by, await fieldNames())}`,
    );
  if (!isExact) {
    const most = Math.max(0, ...values.map(({ error = 0 }) => error));
    const bound = most > 0 ? `; counts marked >= may be too low by up to ${most}` : '';
    terminal.note(`about ${distinct} different values: estimated${bound}`);
  }
  return formatTop(found, terminal);
}
