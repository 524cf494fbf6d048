import type { Client } from '@porthole/client';
import {
  explainQuery,
  formatQuery,
  parseQuery,
  parseRecordFilter,
  type RequestClock,
  rangeProblem,
  readTime,
} from '@porthole/contract';
import { createZone, type RecordFilter, type Zone } from '@porthole/logs';
import { filterToQuery, type QueryNode } from '@porthole/logs/query';
import { EXIT, ProgramError } from '../exit.ts';
import type { RecordFormat } from '../flag-checks.ts';
import type { Invocation } from '../invocation.ts';
import { marksPattern, type RecordStyle } from '../output/format-record.ts';
import {
  ColumnReader,
  CsvLayout,
  isField,
  OWN_COLUMNS,
  parseTemplate,
  type RecordLayout,
  TableLayout,
  TemplateLayout,
  type TemplatePart,
  templateColumns,
} from '../output/record-layout.ts';
import { FILTERS, readParameters } from '../parameter-flags.ts';
import { type LogSource, selectedLog } from '../sources/log-source.ts';
import { openNode } from '../sources/open-node.ts';
import { unlessUnsupported } from '../sources/query-cluster.ts';
import { checkQuery } from '../sources/source-flags.ts';

/** The zone for reading and showing times: `--time-zone`, or that of the logs. */
export function shownZone(invocation: Invocation, sources: readonly LogSource[]): Zone {
  const name = invocation.text('time-zone');
  return name === undefined ? (sources[0]?.zone ?? createZone()) : createZone(name);
}

/** The node of a command, the zone of the times it is given and prints, and the clock they are read by. */
export async function openTimed(invocation: Invocation, signal: AbortSignal) {
  const client = await openNode(invocation);
  return { client, ...(await shownTimes(invocation, client, signal)) };
}

/** The zone in which a command reads and prints times, and the clock of the node for relative ones. */
export async function shownTimes(
  invocation: Invocation,
  node: Pick<Client, 'describe'>,
  signal: AbortSignal,
): Promise<{ zone: Zone; clock: RequestClock }> {
  const { timeZone, clockMs } = await unlessUnsupported<{ timeZone?: string; clockMs: number }>(
    () => node.describe({ signal }),
    // clock: a node that only answers the contract does not tell its own
    () => ({ clockMs: Date.now() }),
  );
  const zone = createZone(invocation.text('time-zone') ?? timeZone);
  return { zone, clock: { nowMs: clockMs, offsetMsAt: zone.offsetMsAt } };
}

/** The filter of the flags. Relative times use the clock of the node that writes the logs. */
export function recordFilter(invocation: Invocation, source: LogSource, zone: Zone): RecordFilter {
  const { query, label } = readParameters(invocation, FILTERS);
  return parseRecordFilter(query, { clock: sourceClock(source, zone), label });
}

export function sourceClock({ clockAheadMs }: LogSource, zone: Zone): RequestClock {
  return { nowMs: Date.now() + clockAheadMs, offsetMsAt: zone.offsetMsAt };
}

export function timeFlag(invocation: Invocation, flag: string, clock: RequestClock): number | undefined {
  const text = invocation.text(flag);
  if (text === undefined) return undefined;
  const reading = readTime(text, clock);
  if ('timeMs' in reading) return reading.timeMs;
  throw new ProgramError(`invalid --${flag} ${JSON.stringify(text)}: ${reading.problem}`);
}

export function requireRange(fromMs: number | undefined, toMs: number | undefined): void {
  const problem = rangeProblem({ name: '--since', timeMs: fromMs }, { name: '--until', timeMs: toMs });
  if (problem !== undefined) throw new ProgramError(problem);
}

/** The output style according to flags and terminal. */
export function recordStyle(invocation: Invocation, sources: readonly LogSource[], zone: Zone): RecordStyle {
  const { colors, isTty } = invocation.terminal;
  const output = recordOutput(invocation);
  const { format } = output;
  const choice = invocation.text('prefix') ?? 'auto';
  const isMany = readsSeveralFiles(sources);
  // Lines of several nodes are of no use without their node, wherever they are piped to.
  const isOfNodes = sources.some(({ isCluster, isOneNode }) => isCluster && (!isOneNode || sources.length > 1));
  const isNeeded = (format === 'pretty' && isMany) || (format === 'raw' && isOfNodes);
  const prefix = choice === 'always' || (choice === 'auto' && isNeeded);
  const texts = [
    ...invocation.texts('grep').filter(Boolean),
    ...foundTexts(parseQuery(invocation.text('query') ?? '')),
  ];
  const marks = marksPattern(texts, invocation.isOn('case-sensitive'));
  const hasFile = choice === 'always' || (choice === 'auto' && isMany);
  const layout = createLayout(output, { invocation, zone, defaults: defaultColumns(sources, hasFile) });
  const columns = output.chosen;
  return { format, colors, zone, isTty, prefix, marks, ...(layout && { layout }), ...(columns && { columns }) };
}

/** The texts of a query that its records contain. */
function foundTexts(node: QueryNode | undefined): string[] {
  if (node?.kind === 'text') return [node.text];
  return node?.kind === 'and' || node?.kind === 'or' ? node.nodes.flatMap(foundTexts) : [];
}

function readsSeveralFiles(sources: readonly LogSource[]): boolean {
  const [first] = sources;
  return sources.length > 1 || first?.isCluster === true || (first && selectedLog(first)?.kind) !== 'file';
}

/** Columns of tables and CSV unless `--fields` names them. */
function defaultColumns(sources: readonly LogSource[], hasFile: boolean): string[] {
  const node = sources.some(({ isCluster }) => isCluster) ? ['node'] : [];
  return ['time', 'level', ...node, ...(hasFile ? ['file'] : []), 'source', 'component', 'message'];
}

function createLayout(
  { format, chosen, template }: RecordOutput,
  { invocation, zone, defaults }: { invocation: Invocation; zone: Zone; defaults: readonly string[] },
): RecordLayout | undefined {
  const columns = template ? templateColumns(template) : (chosen ?? defaults);
  const reader = new ColumnReader(columns, zone);
  const options = { columns, isChosen: chosen !== undefined, reader, terminal: invocation.terminal };
  if (template) return new TemplateLayout(template, options);
  if (format === 'csv') return new CsvLayout(options);
  return format === 'table' ? new TableLayout(options) : undefined;
}

/** Number of context records before and after each match. */
export function contextCounts(invocation: Invocation): { before: number; after: number } {
  const around = invocation.number('context') ?? 0;
  return {
    before: invocation.number('before-context') ?? around,
    after: invocation.number('after-context') ?? around,
  };
}

/** Prints which records the flags select: as one query, and in words. Contacts nobody. Resolves with the exit code. */
export async function explainFilter(invocation: Invocation): Promise<number> {
  checkQuery(invocation);
  const { query, label } = readParameters(invocation, FILTERS);
  const zone = createZone(invocation.text('time-zone'));
  const filter = parseRecordFilter(query, { clock: { nowMs: Date.now(), offsetMsAt: zone.offsetMsAt }, label });
  const node = filterToQuery(filter);
  const text = node === undefined ? '' : formatQuery(node);
  const words = node === undefined ? 'every record' : explainQuery(node);
  await invocation.terminal.write(`${text === '' ? '' : `${text}\n`}${words}\n`);
  return EXIT.ok;
}

/** Every field, as requests name it. */
const ALL_FIELDS = '*';

/** Formats whose columns `--fields` chooses. */
const COLUMN_FORMATS: readonly RecordFormat[] = ['table', 'csv', 'json', 'logfmt'];

/** How the flags want records to be printed; nothing about where they come from. */
interface RecordOutput {
  format: RecordFormat;
  /** The names of `--fields`. */
  chosen: readonly string[] | undefined;
  template: readonly TemplatePart[] | undefined;
  /** What to request: names, or `*` for all fields. */
  fields: readonly string[];
}

/** Reads `--output`, `--fields` and `--template`. Throws if they do not fit, before anything is contacted. */
export function recordOutput(invocation: Invocation): RecordOutput {
  const chosen = chosenColumns(invocation);
  const given = invocation.text('template');
  const format = outputFormat(invocation, { hasColumns: chosen !== undefined, hasTemplate: given !== undefined });
  if ((format === 'template') !== (given !== undefined))
    throw new ProgramError(
      given === undefined
        ? "-o template needs --template, like --template '{time} {level} {message}'"
        : `--template cannot be combined with -o ${format}`,
    );
  if (chosen && !COLUMN_FORMATS.includes(format))
    throw new ProgramError(`--fields cannot be combined with -o ${format}; use -o ${COLUMN_FORMATS.join(', -o ')}`);
  if (chosen?.includes(ALL_FIELDS) && format !== 'json')
    throw new ProgramError(`--fields ${ALL_FIELDS} needs -o json; name the columns of -o ${format}`);
  const template = given === undefined ? undefined : parseTemplate(given);
  return { format, chosen, template, fields: requestedFields(format, chosen ?? templateColumns(template ?? [])) };
}

function outputFormat(
  invocation: Invocation,
  { hasColumns, hasTemplate }: { hasColumns: boolean; hasTemplate: boolean },
): RecordFormat {
  const given = invocation.text('output') as RecordFormat | undefined;
  if (given !== undefined) return given;
  if (hasTemplate) return 'template';
  if (hasColumns) return 'table';
  return invocation.terminal.isTty ? 'pretty' : 'raw';
}

function chosenColumns(invocation: Invocation): string[] | undefined {
  const names = invocation.texts('fields').flatMap((text) => text.split(',').map((name) => name.trim()));
  const columns = [...new Set(names.filter((name) => name !== ''))];
  return columns.length === 0 ? undefined : columns;
}

/** JSON carries all fields unless some are chosen; the other formats need those that are not part of every record. */
function requestedFields(format: RecordFormat, columns: readonly string[]): string[] {
  if (format !== 'json') return [...new Set(columns.filter(isField))];
  const own: readonly string[] = OWN_COLUMNS;
  return columns.length === 0 ? [ALL_FIELDS] : columns.filter((name) => !own.includes(name));
}
