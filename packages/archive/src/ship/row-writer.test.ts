import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogDir } from '@porthole/logs';
import { LogWriter, logSpec, randomJsonObject, SHARED_THREADS } from '@porthole/logs/testing';
import { toLines } from '@porthole/records';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClickHouse } from '../clickhouse/clickhouse.ts';
import { type ArchiveRow, recordToRow, rowToRecord } from '../testing/archive-row.ts';
import { BatchBuilder } from './batch-sender.ts';
import { ClickHouseSink } from './clickhouse-sink.ts';
import { LogPass, readLineFile } from './log-pass.ts';

const SHIPPED_MS = Date.UTC(2026, 5, 1);

const ODD_LINES = [
  '2026-06-01 10:00:00.000\tINFO\ta.go:7\t[A] [B]: "quoted" \\ text\t{"n":1e400,"t":"\\t","n":2}',
  '2026-06-01 10:00:00.000\tWARN\ta.go:7\tlines\r\n\tat f()\r\n\tat g()',
  '2026-06-01 10:00:00.000\tWARN\ta.go:7\tn\t{"raw":"x","message":",\\"raw\\":\\"y\\""}',
  '2026-06-01 10:00:00.000\tINFO\ta.go:7\t\t{}',
  '2026-06-01 10:00:00.000\tINFO\ta.go:7\tü😀 \u0000 \u001b[1m ,"raw":" ,"context":{',
  '{"level":"info","ts":1786442302.5,"msg":"half \\ud800 \\udc00","caller":"b.go:7","logger":"a","x":{"raw":"1.0"}}',
  '{"level":"info","time":"2026-06-01T10:00:00Z","message":"a\\nb","context":{"a":[1.0,"\\u00e9"]}}',
  'no time at all, "quoted" and \\ escaped \u2028',
  '-- --',
];

const line = fc.oneof(fc.constantFrom(...ODD_LINES), randomJsonObject, fc.string({ unit: 'binary', maxLength: 60 }));
const text = fc.oneof(
  fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => Buffer.from(`${lines.join('\n')}\n`)),
  logSpec.map((spec) =>
    Buffer.from(new LogWriter().family('a', { ...spec, files: spec.files.slice(0, 1) }).files[0]?.text ?? ''),
  ),
  fc
    .tuple(fc.constantFrom(...ODD_LINES), fc.uint8Array({ minLength: 1, maxLength: 40 }))
    .map(([first, bytes]) => Buffer.concat([Buffer.from(`${first}\n`), bytes])),
);

it('rows are what parsing and serializing the records makes of them, and lead back to the records', async () => {
  const dir = tempDir();
  const logs = new LogDir(dir, { threads: SHARED_THREADS });
  const query = { src: ['a.log'], order: 'oldest', limit: 10_000, before: 0, after: 0, raw: true } as const;
  const builder = new BatchBuilder(new ClickHouseSink(new ClickHouse({ url: 'http://127.0.0.1:1', database: 'x' })));
  try {
    await fc.assert(
      fc.asyncProperty(text, async (bytes) => {
        writeFileSync(join(dir, 'a.log'), bytes);
        const pass = new LogPass(builder, null, () => {});
        const node = { cluster: 'c', node: 'n"\\', role: '' };
        const entry = {
          id: 'id',
          hash: '',
          headBytes: 0,
          end: 0,
          lastOffset: 0,
          cursor: null,
          beforeMs: 0,
          toMs: null,
          size: 0,
          seen: 0,
          missingMs: null,
          isCounted: false,
        };
        const expected: ArchiveRow[] = [];
        let previousMs = 0;
        const times = { newestMs: -Infinity, disorderMs: 0, untimed: 0 };
        for await (const lines of toLines(logs.search(query))) {
          const chunk = Buffer.from(lines);
          for (let at = 0; at < chunk.length; ) {
            at = pass.read(chunk, at);
            if (pass.state !== 'file') continue;
            const file = readLineFile(chunk, at);
            const mark = `${file.mark.headHash}.${file.mark.headBytes.toString(36)}`;
            const columns = { ...node, log: 'a.log', file: file.name, file_id: 'id', mark };
            builder.writer.setFile(file.lineStart, columns, SHIPPED_MS);
            pass.setFile(entry, file.name);
          }
          pass.keep();
          for (const item of chunk.toString().split('\n').slice(0, -1)) {
            const record = JSON.parse(item) as Parameters<typeof recordToRow>[0] | { type: 'end' };
            if (record.type === 'end') continue;
            const row = recordToRow(record, { ...node, log: 'a.log', fileId: 'id', previousMs, shippedMs: SHIPPED_MS });
            previousMs = record.timeMs ?? previousMs;
            if (record.timeMs === undefined) times.untimed++;
            else {
              times.disorderMs = Math.max(times.disorderMs, times.newestMs - record.timeMs);
              times.newestMs = Math.max(times.newestMs, record.timeMs);
            }
            expected.push(row);
            if (!/\\ud[89a-f]/.test(item)) expect(rowToRecord(row)).toEqual(record);
          }
        }
        pass.addLast();
        const { toMs, disorderMs, untimed } = pass;
        expect({ newestMs: toMs ?? -Infinity, disorderMs, untimed }).toEqual(times);
        const rows = builder.writer.written.toString().split('\n').slice(0, -1);
        builder.writer.clear();
        const defaults = {
          tags: [],
          level: '',
          source: '',
          message_at: 0,
          message_tail: 0,
          message_text: '',
          context: '',
          cut: 0,
          continued: 0,
        };
        // A message may be at several positions of its text.
        const comparable = ({ message_at, message_tail, message_text, ...row }: ArchiveRow) => ({
          ...row,
          message: rowToRecord({ ...row, message_at, message_tail, message_text }).message,
        });
        const found = rows.map((row) => ({ ...defaults, ...(JSON.parse(row) as ArchiveRow) }));
        expect(found.map(comparable)).toEqual(expected.map(comparable));
      }),
      { numRuns: runs(20) },
    );
  } finally {
    await logs.close();
  }
});
