import { type BenchContext, ROOT } from './context.ts';
import { countOutput } from './count-lines.ts';
import { type PrintedLog, recordRates } from './print-files.ts';
import { median, showNumber } from './rounds.ts';
import { atLeast, type Row } from './row.ts';

const BINARY = `${ROOT}packages/cli/bin/porthole.cjs`;

const LEAST_RAW_MILLION = 1;
const LEAST_JSON_MILLION = 0.4;
const LEAST_TIMES_LNAV = 5;

/** Far longer than it takes for such a log. */
const LNAV_MAX_MS = 120_000;

interface CommandLine {
  figure: string;
  args: readonly string[];
  leastMillion?: number;
  /** How often the records of the log are printed. */
  copies?: number;
}

/** The program on a file, from its start to its end, against programs that print the same. */
export async function programRows(context: BenchContext, log: PrintedLog): Promise<Row[]> {
  context.log('  printing all records');
  const { path, otherPath, text } = log;
  const commandLines: readonly CommandLine[] = [
    { figure: 'porthole logs FILE -n all', args: [path], leastMillion: LEAST_RAW_MILLION },
    { figure: 'porthole logs FILE -n all -o json', args: [path, '-o', 'json'], leastMillion: LEAST_JSON_MILLION },
    { figure: 'porthole logs FILE FILE -n all, merged', args: [path, otherPath], copies: 2 },
    { figure: 'porthole logs FILE FILE -n all -o json, merged', args: [path, otherPath, '-o', 'json'], copies: 2 },
    { figure: `porthole logs FILE -g ${text} -n all`, args: [path, '-g', text] },
    { figure: 'porthole logs FILE -n all -o csv', args: [path, '-o', 'csv'] },
    { figure: 'porthole logs FILE -n all -o logfmt', args: [path, '-o', 'logfmt'] },
    { figure: 'porthole logs FILE -n all -o pretty', args: [path, '-o', 'pretty'] },
  ];
  const print = () => countOutput(context, 'mawk', ['{ print }', path]);
  const awk = await recordRates(context, { records: log.records, run: print });
  const rows: Row[] = [];
  for (const line of commandLines) rows.push(await commandRow(context, log, { line, awk }));
  return [...rows, await lnavRow(context, log)];
}

async function commandRow(
  context: BenchContext,
  { records, size }: PrintedLog,
  { line: { figure, args, leastMillion, copies = 1 }, awk }: { line: CommandLine; awk: readonly number[] },
): Promise<Row> {
  const command = [BINARY, 'logs', '--log-zone', 'UTC', '-n', 'all', ...args];
  const run = () => countOutput(context, 'node', command);
  const ours = await recordRates(context, { records: records * copies, run });
  const rate = median(ours);
  return {
    figure: `${size}: ${figure}, million records/s`,
    porthole: showNumber(rate),
    against: `awk ${showNumber(median(awk))}`,
    ratio: rate / median(awk),
    rounds: `${ours.map(showNumber).join(', ')} against ${awk.map(showNumber).join(', ')}`,
    ...(leastMillion !== undefined && { bar: atLeast(rate, leastMillion) }),
  };
}

/** lnav indexes the file before it prints. */
async function lnavRow(context: BenchContext, { path, records, size }: PrintedLog): Promise<Row> {
  const env = { HOME: context.tempDir() };
  const lnav = await countOutput(context, 'lnav', ['-n', path], { env, maxMs: LNAV_MAX_MS });
  const ours = await countOutput(context, 'node', [BINARY, 'logs', '--log-zone', 'UTC', '-n', 'all', path]);
  const ratio = lnav.tookMs / ours.tookMs;
  return {
    figure: `${size}: porthole logs FILE -n all, times as fast as lnav -n`,
    porthole: showNumber(ratio),
    against: `${showNumber(ours.tookMs)} ms, lnav ${lnav.gaveUp ? 'given up after ' : ''}${showNumber(lnav.tookMs)} ms`,
    bar: atLeast(ratio, LEAST_TIMES_LNAV),
    rounds: `one run each, of ${records} records`,
  };
}
