import { parseQuery, parseRecordFilter, type RequestClock, rangeProblem, readTime } from '@porthole/contract';
import { createZone, type RecordFilter, type Zone } from '@porthole/logs';
import type { QueryNode } from '@porthole/logs/query';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { marksPattern, type RecordStyle } from '../output/format-record.ts';
import {
  ColumnReader,
  CsvLayout,
  type RecordLayout,
  TableLayout,
  TemplateLayout,
  templateColumns,
} from '../output/record-layout.ts';
import { FILTERS, readParameters } from '../parameter-flags.ts';
import type { LogSource } from '../sources/log-source.ts';
import { type RecordOutput, recordOutput } from './record-output.ts';

/** The zone for reading and showing times: `--time-zone`, or that of the logs. */
export function shownZone(invocation: Invocation, sources: readonly LogSource[]): Zone {
  const name = invocation.text('time-zone');
  return name === undefined ? (sources[0]?.zone ?? createZone()) : createZone(name);
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
  const prefix = choice === 'always' || (choice === 'auto' && format === 'pretty' && isMany);
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
  return sources.length > 1 || first?.isCluster === true || first?.selection.file === undefined;
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
