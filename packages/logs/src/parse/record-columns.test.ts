import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findColumns, type RecordColumns } from './decode-record.ts';

const TIME = '2024-08-16 09:48:23.118';

/** The columns as text; absent ones are left out. */
function parseColumns(line: string): Record<string, string> {
  const bytes = Buffer.from(line);
  const { localMs, level, ...spans } = findColumns(bytes, 0, bytes.length);
  const texts = Object.entries(spans).map(([column, { start, end }]) => [column, bytes.toString('utf8', start, end)]);
  return {
    ...(localMs !== undefined && { time: new Date(localMs).toISOString() }),
    ...(level && { level }),
    ...Object.fromEntries(texts.filter(([, text]) => text !== '')),
  };
}

const time = '2024-08-16T09:48:23.118Z';

describe('the columns of a line', () => {
  const lines: [string, string, Record<string, string>][] = [
    [
      'all of them',
      `${TIME}\tINFO\tbroker/runtime.go:172\t[broker] [runtime]: starting\t{"http": 9000}`,
      {
        time,
        level: 'INFO',
        source: 'broker/runtime.go:172',
        tags: '[broker] [runtime]',
        message: 'starting',
        context: '{"http": 9000}',
      },
    ],
    [
      'no tags',
      `${TIME}\tINFO\ta/b.go:2\tstarted\t{"a":1}`,
      { time, level: 'INFO', source: 'a/b.go:2', message: 'started', context: '{"a":1}' },
    ],
    ['no context', `${TIME}\tINFO\ta/b.go:2\tstarted`, { time, level: 'INFO', source: 'a/b.go:2', message: 'started' }],
    ['no source', `${TIME}\tWARN\tstarted`, { time, level: 'WARN', message: 'started' }],
    ['no level', `${TIME}\ta/b.go:2\tstarted`, { time, source: 'a/b.go:2', message: 'started' }],
    ['only a time', TIME, { time }],
    ['a time and a tab', `${TIME}\t`, { time }],
    ['a time and a level', `${TIME}\tERROR`, { time, level: 'ERROR' }],
    ['a time and a message', `${TIME}\thello there`, { time, message: 'hello there' }],
    ['a time and a space', `${TIME} hello there`, { time, message: 'hello there' }],
    ['something appended to the time', `${TIME}Z hello`, { time, message: `${TIME}Z hello` }],
    ['no time', 'INFO\ta.go:1\tstarted', { level: 'INFO', source: 'a.go:1', message: 'started' }],
    ['a continuation', '\t/go/src/x.go:191 +0x1b', { message: '\t/go/src/x.go:191 +0x1b' }],
    ['an address alone is a message', 'localhost:9000', { message: 'localhost:9000' }],
    ['an address as last column', `${TIME}\tINFO\tlocalhost:9000`, { time, level: 'INFO', message: 'localhost:9000' }],
    ['an empty message', `${TIME}\tINFO\ta.go:1\t`, { time, level: 'INFO', source: 'a.go:1' }],
    [
      'a source with spaces is a message',
      `${TIME}\tINFO\tmy file.go:1\tx`,
      { time, level: 'INFO', message: 'my file.go:1\tx' },
    ],
    ['a source needs a number', `${TIME}\tINFO\ta.go:\tx`, { time, level: 'INFO', message: 'a.go:\tx' }],
    ['a source needs a file', `${TIME}\tINFO\t:12\tx`, { time, level: 'INFO', message: ':12\tx' }],
    ['digits alone are not a source', `${TIME}\tINFO\t12\tx`, { time, level: 'INFO', message: '12\tx' }],
    ['a level of another case', `${TIME}\tinfo\tx`, { time, level: 'INFO', message: 'x' }],
    ['an unknown level is a message', `${TIME}\tVERBOSE\tx`, { time, message: 'VERBOSE\tx' }],
    [
      'tabs in the message',
      `${TIME}\tINFO\ta.go:1\tone\ttwo\tthree`,
      { time, level: 'INFO', source: 'a.go:1', message: 'one\ttwo\tthree' },
    ],
    [
      'tabs in the message and a context',
      `${TIME}\tINFO\ta.go:1\tone\ttwo\t{"a":1}`,
      { time, level: 'INFO', source: 'a.go:1', message: 'one\ttwo', context: '{"a":1}' },
    ],
    [
      'a brace within the message',
      `${TIME}\tINFO\ta.go:1\tuse {x}`,
      { time, level: 'INFO', source: 'a.go:1', message: 'use {x}' },
    ],
    [
      'a context without a message',
      `${TIME}\tINFO\ta.go:1\t{"a":1}`,
      { time, level: 'INFO', source: 'a.go:1', context: '{"a":1}' },
    ],
    ['nothing but JSON', '{"level":"info","msg":"x"}', { context: '{"level":"info","msg":"x"}' }],
    ['an empty context', `${TIME}\tINFO\tx\t{}`, { time, level: 'INFO', message: 'x', context: '{}' }],
    ['one brace', `${TIME}\tINFO\tx\t}`, { time, level: 'INFO', message: 'x\t}' }],
    ['CR LF at the end', `${TIME}\tINFO\ta.go:1\tx\r\n`, { time, level: 'INFO', source: 'a.go:1', message: 'x' }],
    [
      'CR LF after a context',
      `${TIME}\tINFO\tx\t{"a":1}\r\n`,
      { time, level: 'INFO', message: 'x', context: '{"a":1}' },
    ],
    ['CR LF behind a time', `${TIME}\r\n`, { time }],
    ['an empty line', '', {}],
    ['a newline', '\n', {}],
    ['CR LF alone', '\r\n', {}],
    ['a date that does not exist', '2024-02-30 00:00:00\tINFO\tx', { message: '2024-02-30 00:00:00\tINFO\tx' }],
    [
      'the leap day',
      '2024-02-29 09:48:23.118\tINFO\tx',
      { time: '2024-02-29T09:48:23.118Z', level: 'INFO', message: 'x' },
    ],
    ['nanoseconds', `${TIME}999111\tINFO\tx`, { time, level: 'INFO', message: 'x' }],
    [
      'an access log',
      `${TIME}\t10.8.0.5 1.482913ms "GET /api/v1/log/view?file=nope.log&size=262144 HTTP/1.1" 500 35 Error #01: failed`,
      {
        time,
        message:
          '10.8.0.5 1.482913ms "GET /api/v1/log/view?file=nope.log&size=262144 HTTP/1.1" 500 35 Error #01: failed',
      },
    ],
    ['a slow query', '# Time: 2024-08-16 09:50:02 ', { message: '# Time: 2024-08-16 09:50:02 ' }],
  ];
  test.each(lines)('%s', (_, line, expected) => {
    expect(parseColumns(line)).toEqual(expected);
  });

  const tags: [string, Record<string, string>][] = [
    ['[a]: x', { tags: '[a]', message: 'x' }],
    ['[a] [b]: x', { tags: '[a] [b]', message: 'x' }],
    ['[a][b]: x', { tags: '[a][b]', message: 'x' }],
    ['[a]:x', { tags: '[a]', message: 'x' }],
    ['[a]:', { tags: '[a]' }],
    ['[a]: ', { tags: '[a]' }],
    ['[a]:  x', { tags: '[a]', message: ' x' }],
    ['[]: x', { tags: '[]', message: 'x' }],
    ['[a b]: x', { tags: '[a b]', message: 'x' }],
    ['[a] x', { message: '[a] x' }],
    ['[a] [b] x: y', { message: '[a] [b] x: y' }],
    ['[a]  [b]: x', { message: '[a]  [b]: x' }],
    ['[a] : x', { message: '[a] : x' }],
    ['[a: x', { message: '[a: x' }],
    ['[a', { message: '[a' }],
    ['[', { message: '[' }],
    ['[a]', { message: '[a]' }],
    ['[a] ', { message: '[a] ' }],
    ['x [a]: y', { message: 'x [a]: y' }],
    ['[a]: x\t{"k": "]:"}', { tags: '[a]', message: 'x', context: '{"k": "]:"}' }],
    ['[a\t{"k": "]: x"}', { message: '[a', context: '{"k": "]: x"}' }],
  ];
  test.each(tags)('tags: %j', (body, expected) => {
    expect(parseColumns(`${TIME}\tINFO\ta.go:1\t${body}`)).toEqual({
      time,
      level: 'INFO',
      source: 'a.go:1',
      ...expected,
    });
  });
});

/** Text that resembles the format, cut and mixed, and any bytes. */
const nearlyLine = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\t',
        '\n',
        '\r',
        ' ',
        ':',
        '[',
        ']',
        '{',
        '}',
        '"',
        'INFO',
        TIME,
        'a.go:1',
        '[a]: ',
        '{"a":1}',
        '12',
        '\0',
      ),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => Buffer.from(parts.join('')));
const anyBytes = fc.oneof(
  nearlyLine,
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
);

function spanTexts({ source, tags, message, context }: RecordColumns) {
  return [source, tags, message, context];
}

describe('for any bytes', () => {
  test('the columns are within the line, in order, and do not overlap', () => {
    fc.assert(
      fc.property(anyBytes, fc.nat(10), fc.nat(10), (bytes, before, after) => {
        const start = Math.min(before, bytes.length);
        const end = Math.max(start, bytes.length - after);
        let at = start;
        for (const span of spanTexts(findColumns(bytes, start, end)).filter((one) => one.end > one.start)) {
          expect(span.start).toBeGreaterThanOrEqual(at);
          expect(span.end).toBeLessThanOrEqual(end);
          at = span.end;
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  test('a line is parsed in the same way wherever it is', () => {
    fc.assert(
      fc.property(anyBytes, anyBytes, anyBytes, (line, before, after) => {
        const moved = findColumns(Buffer.concat([before, line, after]), before.length, before.length + line.length);
        const alone = findColumns(line, 0, line.length);
        expect([moved.localMs, moved.level]).toEqual([alone.localMs, alone.level]);
        const back = spanTexts(moved).map(({ start, end }) => ({
          start: start - before.length,
          end: end - before.length,
        }));
        expect(back).toEqual(spanTexts(alone));
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('the time depends on the line, not on the buffer', () => {
  /** Quadratic work would take minutes here, and the test would time out. */
  test.each([
    ['text without a tab', 'some words without any of the columns\n'],
    ['a brace at the end', '{x} but no tab before it }\n'],
    ['an open bracket', '[never closed\n'],
    ['an open bracket behind a time', `${TIME}\tINFO\t[never closed\n`],
    ['a word without space', 'word\n'],
    ['JSON', '{"level":"info"}\n'],
  ])('for many lines of %s', (_, line) => {
    const bytes = Buffer.alloc(16 * 1024 * 1024, line);
    for (let start = 0; start + line.length <= bytes.length; start += line.length) {
      const { message } = findColumns(bytes, start, start + line.length);
      if (message.end > start + line.length) expect.fail(`the line at ${start} has a message that ends behind it`);
    }
  });

  test.each(['x', ' ', '[', ']', '{', '}', '\t', ':', '1', '[a] '])('for one line of 1 MiB of %j', (fill) => {
    for (const start of ['', `${TIME}\tINFO\t`, `${TIME}\tINFO\ta.go:1\t[a]: `]) {
      const bytes = Buffer.concat([Buffer.from(start), Buffer.alloc(1024 * 1024, fill), Buffer.from('}\n')]);
      const { message, context } = findColumns(bytes, 0, bytes.length);
      expect(Math.max(message.end, context.end)).toBe(bytes.length - 1);
    }
  });
});
