import { describe, expect, it } from 'vitest';
import { createZone } from '../../zone.ts';
import { compileLayoutFormat, type LayoutDefinition } from './layout-format.ts';
import { compileLineLayout, LineLayoutError } from './line-layout.ts';

const OPTIONS = { zone: createZone('UTC'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };
const TIME = '2026-11-15 10:00:00';
const TIME_MS = Date.parse('2026-11-15T10:00:00Z');

function decode(line: string, lines: readonly string[], more: Partial<LayoutDefinition> = {}) {
  const definition = { name: 'test', programs: '', times: ['yyyy-MM-dd HH:mm:ss'], lines, ...more };
  const bytes = Buffer.from(line);
  return compileLayoutFormat(definition).create(OPTIONS).decode(bytes, 0, bytes.length);
}

describe('a line layout', () => {
  it('has columns and a context', () => {
    expect(
      decode(`${TIME}  warn [a b] x.go:1 7: hello  there`, ['{time} {level} [{logger}] {source} {n:int}: {message}']),
    ).toEqual({
      timeMs: TIME_MS,
      level: 'WARN',
      tags: ['a b'],
      source: 'x.go:1',
      message: 'hello  there',
      context: { n: 7 },
    });
  });

  it('allows empty fields where it says so, and drops what is not wanted', () => {
    expect(decode(`${TIME} [] drop me`, ['{time} [{logger?}] {_} {message}'])).toEqual({
      timeMs: TIME_MS,
      message: 'me',
    });
  });

  it('reads texts over spaces, choices, braces and statuses', () => {
    const lines = ['{time} {{{kind:a|b}} {message:text} | {status:http} {rest}'];
    expect(decode(`${TIME} {b} one two | 503 x`, lines)).toMatchObject({
      level: 'ERROR',
      message: 'one two',
      context: { kind: 'b', status: 503, rest: 'x' },
    });
    // What is not a choice does not match; the line has a time all the same.
    expect(decode(`${TIME} {c} one two | 503 x`, lines)).toEqual({ timeMs: TIME_MS, message: '{c} one two | 503 x' });
  });

  it('maps levels of its own, and does not take other words for levels', () => {
    const levels = { LOUD: 'ERROR' } as const;
    expect(decode(`${TIME} loud x`, ['{time} {level} {message}'], { levels }).level).toBe('ERROR');
    expect(decode(`${TIME} quiet x`, ['{time} {level} {message}'], { levels })).toEqual({
      timeMs: TIME_MS,
      message: 'quiet x',
    });
  });

  it('continues with the lines that follow', () => {
    expect(decode(`${TIME}\nfirst\r\n  second\n`, ['{time}']).message).toBe('first\n  second');
  });

  it.each(['{a}{b}', '{a b}', '{:int}'])('%s is rejected', (layout) => {
    expect(() => compileLineLayout(layout)).toThrow(LineLayoutError);
  });

  it('takes time linear in the line', () => {
    const line = `${TIME} ${'[ '.repeat(200_000)}`;
    expect(decode(line, ['{time} [{a}] [{b}] {c:text} | {message}', '{time} {message}']).timeMs).toBe(TIME_MS);
  });
});
