import { type RequestClock, rangeProblem, readTime } from '@porthole/contract';
import { createZone, type RecordFilter, type Zone } from '@porthole/logs';
import type { Invocation } from '../invocation.ts';
import { ProgramError } from '../program-error.ts';
import type { LogSource } from '../sources/log-source.ts';

/** The zone for reading and showing times: `--time-zone`, or that of the logs. */
export function shownZone(invocation: Invocation, sources: readonly LogSource[]): Zone {
  const name = invocation.text('time-zone');
  return name === undefined ? (sources[0]?.zone ?? createZone()) : createZone(name);
}

/** Builds the filter from the flags. Relative times use the clock of the node that writes the logs. */
export function recordFilter(invocation: Invocation, source: LogSource, zone: Zone): RecordFilter {
  const clock = sourceClock(source, zone);
  const fromMs = timeFlag(invocation, 'since', clock);
  const toMs = timeFlag(invocation, 'until', clock);
  requireRange(fromMs, toMs);
  const level = invocation.text('level')?.toUpperCase() as RecordFilter['minLevel'];
  const terms = invocation.texts('grep').filter((text) => text !== '');
  const excluded = invocation.texts('exclude').filter((text) => text !== '');
  const regex = invocation.text('regex');
  const callSite = invocation.text('source');
  const component = invocation.text('component');
  return {
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
    ...(level !== undefined && { minLevel: level }),
    ...(terms.length > 0 && { terms }),
    ...(excluded.length > 0 && { excluded }),
    ...(invocation.isOn('case-sensitive') && { caseSensitive: true }),
    ...(regex && { regex }),
    ...(callSite && { source: callSite }),
    ...(component && { component }),
  };
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
