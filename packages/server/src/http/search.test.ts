import { gzipSync } from 'node:zlib';
import type { Digest, FoundRecord, Histogram, SearchItem } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { schemaProblems } from './testing/schema-problems.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 15, 10);

/** Records `first` to `last`, one a minute; every tenth is an error with a stack trace. */
function lines(first: number, last: number): string {
  let text = '';
  for (let number = first; number <= last; number++) {
    const time = new Date(START_MS + number * MINUTE_MS).toISOString().slice(0, 23).replace('T', ' ');
    text +=
      number % 10 === 0
        ? `${time}\tERROR\tflow/write.go:88\t[Replica] [Write]: write ${number} failed\n\tat line ${number}\n`
        : `${time}\tINFO\tflow/read.go:7\t[Replica] [Read]: read ${number} done\n`;
  }
  return text;
}

/** One log in three files, the oldest compressed, and one that is another. */
const FILES = {
  'db.log.2.gz': gzipSync(lines(1, 40)),
  'db.log.1': lines(41, 80),
  'db.log': lines(81, 120),
  'other.log': 'no time in here\n',
};

const serve = () =>
  startTestNode({ files: FILES, settings: { node: { timeZone: 'UTC' }, search: { maxRecords: 50 } } });

async function search(port: number, query: string, headers: Record<string, string> = {}) {
  const { status, body } = await sendRequest(port, `/api/v1/log/search?${query}`, { headers });
  expect(status).toBe(200);
  const items = body
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SearchItem);
  for (const item of items) expect(schemaProblems(item, 'SearchItem')).toEqual([]);
  const end = items.at(-1);
  const records = items.slice(0, -1) as FoundRecord[];
  if (end?.type !== 'end' || records.some(({ type }) => type !== 'record')) throw new Error('not exactly one end');
  return { records, end };
}

const minuteFromStart = ({ timeMs = Number.NaN }: FoundRecord) => (timeMs - START_MS) / MINUTE_MS;

describe('a search over HTTP', () => {
  it('may leave out all but the text of records for who uses nothing else', async () => {
    const { port } = await serve();
    const query = 'family=db.log&order=oldest&raw=true';
    const [whole, texts] = [await search(port, query), await search(port, query, { 'porthole-records': 'raw' })];
    const used = ({ file, offset, bytes, cursor, timeMs, raw }: FoundRecord) => [
      file,
      offset,
      bytes,
      cursor,
      timeMs,
      raw,
    ];
    expect(texts.records.map(used)).toEqual(whole.records.map(used));
    expect(texts.records.filter(({ message }) => message === '')).toHaveLength(50);
    expect({ ...texts.end, elapsedMs: 0 }).toEqual({ ...whole.end, elapsedMs: 0 });
    // Without the text there would be nothing.
    expect((await search(port, 'limit=1', { 'porthole-records': 'raw' })).records[0]?.message).not.toBe('');
  });

  it('finds matches across a log, newest first, and reports its coverage', async () => {
    const { port } = await serve();
    const { records, end } = await search(port, 'family=db.log&level=error&q=FAILED');
    expect(records.map(minuteFromStart)).toEqual([120, 110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10]);
    expect(new Set(records.map(({ file }) => file))).toEqual(new Set(['db.log', 'db.log.1', 'db.log.2.gz']));
    expect(records[0]).toMatchObject({ level: 'ERROR', source: 'flow/write.go:88' });
    expect(records[0]?.message).toContain('at line 120');
    expect(end).toMatchObject({ reason: 'exhausted', records: 12, scannedFiles: 3, problems: [], cursor: null });
  });

  it('takes every condition of its parameters', async () => {
    const { port } = await serve();
    const found = async (query: string) => (await search(port, `family=db.log&${query}`)).records.map(minuteFromStart);
    expect(await found('q=read%2011&not=read%20112&q=done')).toEqual([119, 118, 117, 116, 115, 114, 113, 111, 11]);
    expect(await found('q=READ%2011&case=sensitive')).toEqual([]);
    expect(await found('regex=write%20(3%7C4)0')).toEqual([40, 30]);
    expect(await found('source=write.go:88&from=2026-11-15T11:00Z&to=2026-11-15T11:30Z')).toEqual([80, 70, 60]);
    expect(await found('component=replica&limit=2')).toEqual([120, 119]);
    expect(await found('order=oldest&time=2026-11-15T10:05:30&limit=2')).toEqual([6, 7]);
  });

  it('continues with its cursor until each record was returned exactly once', async () => {
    const { port } = await serve();
    for (const order of ['newest', 'oldest']) {
      const seen: number[] = [];
      let next = '';
      for (;;) {
        const { records, end } = await search(port, `family=db.log&order=${order}&limit=7${next}`);
        seen.push(...records.map(minuteFromStart));
        expect(end.reason).toBe(end.cursor === null ? 'exhausted' : 'limit');
        if (end.cursor === null) break;
        next = `&cursor=${encodeURIComponent(end.cursor)}`;
      }
      const rising = Array.from({ length: 120 }, (_, index) => index + 1);
      expect(seen).toEqual(order === 'oldest' ? rising : rising.reverse());
    }
  });

  it('returns the records around a match, and the raw text', async () => {
    const { port } = await serve();
    const { records } = await search(port, 'family=db.log&q=write%2050&before=2&after=1&raw=true');
    expect(records).toHaveLength(1);
    expect(records[0]?.before?.map(minuteFromStart)).toEqual([48, 49]);
    expect(records[0]?.after?.map(minuteFromStart)).toEqual([51]);
    expect(records[0]?.raw).toBe(lines(50, 50).trimEnd());
  });

  it.each([
    ['regex=(', 400, 'REGEX_INVALID'],
    ['cursor=nonsense', 400, 'CURSOR_INVALID'],
    ['record=%00', 400, 'CURSOR_INVALID'],
    ['limit=51', 400, 'PARAMETER_INVALID'],
    ['file=..%2Fx', 400, 'FILE_NAME_INVALID'],
    ['file=absent.log', 404, 'LOG_FILE_NOT_FOUND'],
    ['family=absent.log', 404, 'LOG_FAMILY_NOT_FOUND'],
  ])('%s is refused with %i %s', async (query, status, code) => {
    const { port } = await serve();
    expect(await requestProblem(port, `/api/v1/log/search?${query}`)).toMatchObject({ status, code });
  });
});

describe('counts over HTTP', () => {
  it('a histogram has every record in its bucket', async () => {
    const { port } = await serve();
    const query = 'family=db.log&bucket=1h&from=2026-11-15T10:00Z&to=2026-11-15T12:00Z';
    const histogram = await requestJson<Histogram>(port, `/api/v1/log/histogram?${query}`);
    expect(schemaProblems(histogram, 'Histogram')).toEqual([]);
    expect(histogram).toMatchObject({ bucketMs: 60 * MINUTE_MS, untimed: 0, end: { reason: 'exhausted' } });
    expect(histogram.buckets).toEqual([
      { startMs: START_MS, counts: { INFO: 54, ERROR: 5 } },
      { startMs: START_MS + 60 * MINUTE_MS, counts: { INFO: 54, ERROR: 6 } },
    ]);
  });

  it('a digest has one group per level and place, the largest first', async () => {
    const { port } = await serve();
    const digest = await requestJson<Digest>(port, '/api/v1/log/digest?family=db.log&newSince=2026-11-15T10:05Z');
    expect(schemaProblems(digest, 'Digest')).toEqual([]);
    expect(digest.groups.map(({ level, source, count, isNew }) => ({ level, source, count, isNew }))).toEqual([
      { level: 'INFO', source: 'flow/read.go:7', count: 108, isNew: false },
      { level: 'ERROR', source: 'flow/write.go:88', count: 12, isNew: true },
    ]);
    expect(digest.groups[1]?.sample).toMatchObject({ file: 'db.log', timeMs: START_MS + 120 * MINUTE_MS });
  });

  it('a search whose regex is no good is refused in both', async () => {
    const { port } = await serve();
    for (const route of ['histogram', 'digest'])
      expect(await requestProblem(port, `/api/v1/log/${route}?regex=(`)).toMatchObject({ code: 'REGEX_INVALID' });
  });
});
