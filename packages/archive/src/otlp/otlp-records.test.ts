import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Scrubbing } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_FORMAT, PROTOBUF } from './otlp-format.ts';
import { toOtlpRecord } from './otlp-record.ts';
import { decodeRequest, type ReceivedRecord } from './testing/otlp-receiver.ts';
import { OtlpSetting, type OtlpTestOptions, SOURCE } from './testing/otlp-setting.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

async function ship(files: Record<string, string | Buffer>, count: number, options: OtlpTestOptions = {}) {
  const setting = await OtlpSetting.create();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(setting.dir, name, '..'), { recursive: true });
    writeFileSync(join(setting.dir, name), text);
  }
  await setting.start(options);
  const { receiver } = setting;
  await eventually(() => {
    expect(receiver.invalid).toEqual([]);
    expect(receiver.records.length).toBe(count);
  });
  return receiver;
}

const ENCODINGS = [{ encoding: 'protobuf' }, { encoding: 'json' }] as const;

describe.each(ENCODINGS)('in $encoding', ({ encoding }) => {
  it('a record has its time, level, message, place, fields and trace', async () => {
    const text =
      `2026-06-01 10:00:00.123\tERROR\tsrc/a.go:7\t[A] [B]: failed user=ann tries=3 "ü"` +
      `\t{"n":{"deep":1},"f":1.5,"neg":-7,"big":12345678901234567890,"ok":true,"none":null,"list":[1,"x",false],` +
      `"trace_id":"${TRACE}","span_id":"${SPAN}","":"x","level":"odd","log.file.name":"forged"}\n\tat f()\n\tat g()\n`;
    const receiver = await ship({ 'a.log': text }, 1, { encoding });
    const [request] = receiver.taken;
    expect(request).toMatchObject({
      url: '/v1/logs',
      resource: { 'service.name': 'shop', 'service.instance.id': 'n' },
      scope: SOURCE.scope,
      headers: {
        'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        'content-encoding': 'gzip',
        'user-agent': 'porthole/1.2.3',
      },
    });
    const [{ observedTimeUnixNano, ...record } = {} as ReceivedRecord] = receiver.records;
    expect(record).toEqual({
      timeUnixNano: String(BigInt(Date.UTC(2026, 5, 1, 10, 0, 0, 123)) * 1_000_000n),
      severityNumber: 17,
      severityText: 'ERROR',
      body: { stringValue: 'failed user=ann tries=3 "ü"\n\tat f()\n\tat g()' },
      attributes: {
        'log.file.name': 'a.log',
        'porthole.log': 'a.log',
        'log.record.uid': expect.stringMatching(/^[\da-f]{24}\.0\.\d+$/) as string,
        'code.file.path': 'src/a.go',
        'code.line.number': 7n,
        'porthole.component': ['A', 'B'],
        'n.deep': 1n,
        f: 1.5,
        neg: -7n,
        big: '12345678901234567890',
        ok: true,
        none: null,
        list: [1n, 'x', false],
        trace_id: TRACE,
        span_id: SPAN,
        level: 'odd',
        user: 'ann',
        tries: 3n,
      },
      traceId: TRACE,
      spanId: SPAN,
    });
    expect(Number(observedTimeUnixNano) / 1e6).toBeGreaterThan(Date.UTC(2026, 0, 1));
  });

  it('levels are the numbers of OpenTelemetry, and what has no time or level says so', async () => {
    const levels = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];
    const lines = levels.map((level, index) => `2026-06-01 10:00:0${index}.000\t${level}\ta.go:7\tx\n`).join('');
    const receiver = await ship({ 'a.log': lines, 'sub.txt': 'plain text\n' }, 7, { encoding });
    const levelled = receiver.records.filter(({ severityText }) => severityText);
    expect(levelled.map(({ severityNumber, severityText }) => [severityNumber, severityText])).toEqual(
      levels.map((level, index) => [1 + 4 * index, level]),
    );
    const plain = receiver.records.find(({ severityText }) => !severityText);
    expect(plain?.body).toEqual({ stringValue: 'plain text' });
    expect(plain?.timeUnixNano ?? '0').toBe('0');
    expect(plain?.severityNumber ?? 0).toBe(0);
  });

  it('hostile text is valid OTLP all the same', async () => {
    const texts = [
      '{"level":"info","time":"2026-06-01T10:00:00Z","msg":"\\ud800 half","\\udfff":"x","x":"\\u0000"}',
      '{"level":"info","time":"1890-06-01T10:00:00Z","msg":"too early","n":-9007199254740991}',
      '{"level":"info","time":"9999-12-31T23:59:59Z","msg":"too late","n":1e300}',
      `{"level":"info","time":"2026-06-01T10:00:00Z","msg":"nested","x":${'['.repeat(150)}1${']'.repeat(150)}}`,
      '{"level":"info","time":"2026-06-01T10:00:00Z","msg":"proto","__proto__":"x","constructor":"y"}',
      `{"level":"info","time":"2026-06-01T10:00:00Z","msg":"${'long '.repeat(15_000)}"}`,
    ];
    const bytes = Buffer.concat([
      Buffer.from(`${texts.join('\n')}\n{"msg":"`),
      Buffer.from([0xff, 0xfe, 0x22, 0x7d, 10]),
    ]);
    const receiver = await ship({ 'a.log': bytes }, 7, { encoding });
    expect(receiver.bodies[0]).toContain('\ufffd half');
    for (const index of [1, 2]) expect(receiver.records[index]?.timeUnixNano ?? '0').toBe('0');
    expect(Object.keys(receiver.records[4]?.attributes ?? {})).toContain('__proto__');
  });

  it('secrets are masked in what is sent', async () => {
    const scrubbing = new Scrubbing();
    scrubbing.add(['first-secret']);
    const line = `2026-06-01 10:00:00.000\tINFO\ta.go:7\tx first-secret\t{"key":"first-secret"}\n`;
    const receiver = await ship({ 'a.log': line }, 1, { encoding, scrubbing });
    expect(receiver.requests.map(({ bytes }) => bytes.toString()).join()).not.toContain('first-secret');
    expect(receiver.records[0]?.attributes.key).toBe('************');
  });
});

it('both encodings are the same records, whatever is in them', () => {
  const text = fc.string({ unit: 'binary' });
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const fields = fc.dictionary(text, fc.oneof(value, fc.array(value, { minLength: 2 })), { maxKeys: 8 });
  fc.assert(
    fc.property(fields, text, (found, message) => {
      const record = { type: 'record', file: 'a', offset: 0, bytes: 1, cursor: '', message, fields: found } as never;
      const sent = toOtlpRecord(record, { origin: { attributes: [], id: 'x' }, observedMs: 1, isEvent: false });
      const [proto, json] = [PROTOBUF, JSON_FORMAT].map((format) => {
        const request = format.request(SOURCE, format.piece(sent));
        const { records } = decodeRequest(request, format === JSON_FORMAT);
        const [{ timeUnixNano = '0', ...rest } = {} as ReceivedRecord] = records;
        return { timeUnixNano, ...rest };
      });
      expect(proto).toEqual(json);
    }),
    { numRuns: runs(100) },
  );
});

describe('the trace of a record', () => {
  const traceOf = (fields: Record<string, string | number>) => {
    const record = { type: 'record', file: 'a', offset: 0, bytes: 1, cursor: '', message: '', fields } as never;
    const { traceId, spanId, flags } = toOtlpRecord(record, {
      origin: { attributes: [], id: '' },
      observedMs: 1,
      isEvent: false,
    });
    return [traceId, spanId, flags];
  };
  it.each([
    [{ traceId: TRACE, spanId: SPAN }, [TRACE, SPAN, undefined]],
    [{ 'trace.id': TRACE.toUpperCase(), 'span.id': SPAN }, [TRACE, SPAN, undefined]],
    [{ TraceID: TRACE }, [TRACE, undefined, undefined]],
    [{ otelTraceID: TRACE, otelSpanID: SPAN, trace_flags: '01' }, [TRACE, SPAN, 1]],
    [{ 'X-B3-TraceId': SPAN, 'X-B3-SpanId': SPAN }, [`${'0'.repeat(16)}${SPAN}`, SPAN, undefined]],
    [{ traceparent: `00-${TRACE}-${SPAN}-01` }, [TRACE, SPAN, 1]],
    [{ traceparent: `00-${TRACE}-${SPAN}-01`, span_id: SPAN.replace('f', 'e') }, [TRACE, SPAN.replace('f', 'e'), 1]],
    [{ trace_id: '0'.repeat(32), span_id: SPAN }, [undefined, undefined, undefined]],
    [{ trace_id: `${TRACE}0` }, [undefined, undefined, undefined]],
    [{ trace_id: 'not-a-trace-id-of-any-kind-at-all' }, [undefined, undefined, undefined]],
    [{ traceparent: `00-${TRACE}-${SPAN}-01-extra` }, [undefined, undefined, undefined]],
    [{ span_id: SPAN }, [undefined, undefined, undefined]],
    [{ trace_id: TRACE, span_id: '0'.repeat(16) }, [TRACE, undefined, undefined]],
  ])('of %j is %j', (fields, expected) => {
    expect(traceOf(fields)).toEqual(expected);
  });
});

describe.each([
  ['protobuf', PROTOBUF],
  ['json', JSON_FORMAT],
])('a request in %s', (_name, format) => {
  const record = (index: number) =>
    toOtlpRecord(
      { type: 'record', file: 'a', offset: index, bytes: 1, cursor: '', message: `line ${index}` } as never,
      { origin: { attributes: [], id: '' }, observedMs: 1, isEvent: false },
    );
  const request = (from: number, to: number) => {
    const pieces = Array.from({ length: to - from }, (_, index) => format.piece(record(from + index)));
    return format.request(SOURCE, Buffer.concat(pieces));
  };

  it('is halved between records, until there is one', () => {
    for (const length of [2, 3, 200]) {
      const halves = format.halves(request(0, length));
      expect(halves).toEqual([request(0, length >> 1), request(length >> 1, length)]);
    }
    expect(format.halves(request(0, 1))).toBeUndefined();
  });
});
