import { FormatSet } from './detect-format.ts';
import { trimLineEnd } from './formats/define-format.ts';
import { compileLayoutFormat } from './formats/layout/layout-format.ts';
import type { UserFormat, UserFormatSample } from './user-format.ts';
import type { Zone } from './zone.ts';

interface SampleOptions {
  /** Zone of times that have none. */
  zone: Zone;
  nowMs: number;
}

/** What is wrong with the samples of the formats: not matched, or read differently than expected. By format. */
export function checkSamples(formats: readonly UserFormat[], options: SampleOptions): Map<string, string[]> {
  const all = new FormatSet(formats);
  return new Map(
    formats.map((format) => {
      const compiled = compileLayoutFormat({ ...format, programs: '' });
      const problems = format.samples.flatMap((sample, index) =>
        checkSample(sample, compiled, options).map((reason) => `sample ${index + 1} ${reason}`),
      );
      const text = Buffer.from(format.samples.map(({ line }) => `${line}\n`).join(''));
      const detected = all.detect(text, { zone: options.zone, writtenMs: options.nowMs }).name;
      if (problems.length === 0 && format.samples.length > 0 && detected !== format.name)
        problems.push(`a file of its samples is detected as ${detected}`);
      return [format.name, problems];
    }),
  );
}

function checkSample(
  { line, time, level }: UserFormatSample,
  compiled: ReturnType<typeof compileLayoutFormat>,
  { zone, nowMs }: SampleOptions,
): string[] {
  const expectedMs = time === undefined ? undefined : toEpochMs(time, zone);
  // As in a file written at that time, which completes a time without a year or a date.
  const format = compiled.create({ zone, writtenMs: expectedMs ?? nowMs });
  const bytes = Buffer.from(line);
  const newline = bytes.indexOf(10);
  const lineEnd = trimLineEnd(bytes, 0, newline < 0 ? bytes.length : newline + 1);
  if (!format.isTypical(bytes, 0, lineEnd)) return [`is not matched by any of its layouts: ${JSON.stringify(line)}`];
  const found = format.decode(bytes, 0, bytes.length);
  const problems: string[] = [];
  if (expectedMs !== undefined && found.timeMs !== expectedMs)
    problems.push(`has the time ${showTime(found.timeMs)}, expected ${showTime(expectedMs)}`);
  if (level !== undefined && found.level !== level)
    problems.push(`has ${found.level ? `the level ${found.level}` : 'no level'}, expected ${level}`);
  return problems;
}

function toEpochMs(time: string, zone: Zone): number {
  const hasOffset = /(?:Z|[+-]\d\d:\d\d)$/.test(time);
  return hasOffset ? Date.parse(time) : zone.toEpochMs(Date.parse(`${time}Z`));
}

function showTime(timeMs: number | undefined): string {
  return timeMs === undefined ? 'none' : new Date(timeMs).toISOString();
}
