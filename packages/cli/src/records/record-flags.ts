import { parseRecordFilter, type RequestClock, rangeProblem, readTime } from '@porthole/contract';
import { createZone, type RecordFilter, type Zone } from '@porthole/logs';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { marksPattern, type RecordFormat, type RecordStyle } from '../output/format-record.ts';
import { FILTERS, readParameters } from '../parameter-flags.ts';
import type { LogSource } from '../sources/log-source.ts';

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
  const format = (invocation.text('output') as RecordFormat | undefined) ?? (isTty ? 'pretty' : 'raw');
  const [first] = sources;
  const isMany = sources.length > 1 || first?.isCluster || first?.selection.file === undefined;
  const choice = invocation.text('prefix') ?? 'auto';
  const prefix = choice === 'always' || (choice === 'auto' && format === 'pretty' && isMany);
  const marks = marksPattern(invocation.texts('grep').filter(Boolean), invocation.isOn('case-sensitive'));
  return { format, colors, zone, isTty, prefix, marks };
}

/** Number of context records before and after each match. */
export function contextCounts(invocation: Invocation): { before: number; after: number } {
  const around = invocation.number('context') ?? 0;
  return {
    before: invocation.number('before-context') ?? around,
    after: invocation.number('after-context') ?? around,
  };
}
