import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createZone, type FoundRecord, LogDir } from '@porthole/logs';
import { SHARED_THREADS, searchItems } from '@porthole/logs/testing';
import pico from 'picocolors';
import { afterAll, describe, expect, it } from 'vitest';
import { formatRecord, type RecordStyle } from '../output/format-record.ts';
import { jsonPages } from './find-pages.ts';

const STYLE: RecordStyle = {
  format: 'json',
  colors: pico.createColors(false),
  zone: createZone('UTC'),
  isTty: false,
  prefix: false,
  marks: undefined,
};

/** Whatever could change when it is parsed and formatted again. */
const ODD_LINES = [
  '2026-01-01 00:00:00.000\tINFO\ta.go:1\t[A] [B]: plain\t{"took":1,"name":"x"}',
  '2026-01-01 00:00:01.000\tWARN\ta.go:2\t[A]: numbers\t{"big":12345678901234567890,"f":1.0,"e":1e400,"n":-0}',
  '2026-01-01 00:00:02.000\tERROR\ta.go:3\t[A]: keys\t{"2":1,"1":2,"a":1,"a":2,"__proto__":{"b":1}}',
  '2026-01-01 00:00:03.000\tINFO\ta.go:4\t[A]: "quoted" \\ "cursor":"x","timeMs":1 \u2028 \ud83d\ude00 \u0007\t{}',
  'no record at all: "timeMs":5',
  '{"time":"2026-01-01T00:00:04Z","level":"info","msg":"json","deep":{"a":[1.50,null,true]},"u":"\\ud800"}',
];

describe('JSON lines of the search engine', () => {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-lines-'));
  const logs = new LogDir(dir, { threads: SHARED_THREADS });
  afterAll(async () => {
    await logs.close();
    rmSync(dir, { recursive: true });
  });

  it.each([
    ['a.log', ''],
    ['a.log', '../"lögs"/'],
    ['odd " name.log', 'host:1/'],
  ])('are what printing their records gives: %s %s', async (name, place) => {
    const invalid = Buffer.from([0x32, 0xff, 0xfe, 0x0a]);
    writeFileSync(join(dir, name), Buffer.concat([Buffer.from(`${ODD_LINES.join('\n')}\n`), invalid]));
    const query = {
      src: [`=${name}`],
      order: 'oldest',
      limit: 1000,
      before: 1,
      after: 1,
      raw: true,
      fields: ['*'],
    } as const;
    const lines: string[] = [];
    const times: number[] = [];
    let end: { reason: string } | undefined;
    const source = { searchPrinted: logs.search.bind(logs), place };
    for await (const found of jsonPages(source)?.(query, {}) ?? []) {
      if (found.batch) {
        lines.push(...textsOf(found.batch));
        times.push(...found.batch.times);
      }
      end = found.end ?? end;
    }
    const records: FoundRecord[] = [];
    for await (const items of searchItems(logs, query)) records.push(...items.filter((item) => item.type === 'record'));
    const named = records.map((record) => (place === '' ? record : { ...record, target: `${place}${record.file}` }));
    expect(lines).toEqual(named.map((record) => formatRecord(record, STYLE)));
    expect(lines.length).toBeGreaterThan(3);
    expect(times).toEqual(records.map(({ timeMs = Number.NaN }) => timeMs));
    expect(end).toMatchObject({ type: 'end', reason: 'exhausted', records: lines.length });
  });
});

function textsOf({ bytes, ends }: { bytes: Uint8Array; ends: ArrayLike<number> }): string[] {
  const text = Buffer.from(bytes);
  return Array.from(ends, (end, index) => text.toString('utf8', ends[index - 1] ?? 0, end));
}
