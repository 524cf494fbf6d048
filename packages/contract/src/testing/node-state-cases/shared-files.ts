import { gzipSync } from 'node:zlib';
import type { CaseFiles } from './node-state-case.ts';

/** Contains everything that needs escaping in a URL, a header, a shell or a gRPC message. */
export const ODD_NAME = 'a b+c%20d#e&f=g?h;i"j\'ü日本🙂.log';

/** Records of `many.log`. */
export const MANY = 1500;

/** Start of all logs with timestamps, in the zone of the node (Berlin). */
export const BASE_TIME_MS = Date.parse('2026-06-01T08:00:00.000Z');

/** The same instant by the wall clock of that zone. */
export function timeText(afterMs: number): string {
  return new Date(BASE_TIME_MS + 2 * 3_600_000 + afterMs).toISOString().slice(0, -1).replace('T', ' ');
}

/** A record of the contract's format, this long after the start. */
export function line(afterMs: number, level: string, rest: string): string {
  return `${timeText(afterMs)}\t${level}\t${rest}\n`;
}

const HOUR = 3_600_000;

/** One log in three files, the oldest compressed: an hour each. */
const BROKER = [0, 1, 2].map((part) =>
  [
    line(part * HOUR, 'INFO', `broker/runtime.go:172\t[Broker]: started, part ${part}\t{"port":9000,"tls":null}`),
    line(part * HOUR + 1000, 'DEBUG', 'broker/runtime.go:180\t[Broker]: timeout is 30s'),
    line(part * HOUR + 2000, 'WARN', 'storage/disk.go:7\t[Storage][wal]: Disk is slow\t{"ms":[1,2.5,-3]}'),
    line(part * HOUR + 2000, 'ERROR', 'storage/disk.go:9\t[Storage]: write failed: TIMEOUT'),
    'goroutine 1 [running]:\n\tat main()\n\n\tat disk.go:9\n',
    line(part * HOUR + 600_000, 'FATAL', `main.go:3\tgone, part ${part}`),
  ].join(''),
);

/** Values that are easily changed by another encoding. */
const JSON_RECORDS = [
  '{"ts":1780300800.5,"level":"info","caller":"etcd/server.go:1","logger":"raft","msg":"elected","term":7}',
  '{"ts":1780300801,"level":"error","msg":"","nested":{"a":[1,[2,{"b":null}],"x"],"":{},"e":[]},"__proto__":{"own":1}}',
  '{"ts":1780300802,"msg":"numbers","big":12345678901234567890,"small":-0.0,"huge":1e400,"tiny":5e-324,"third":0.1}',
  '{"ts":1780300803,"msg":"texts","nul":"a\\u0000b","lone":"\\ud800","line":"\\n\\r\\u2028","quote":"\\"\\\\","emoji":"🙂"}',
  '{"msg":"no time, no level","elapsedMs":"a word","type":"end","cursor":"c","file":"f","offset":-1,"raw":false}',
  '{"ts":1780300804,"level":"fatal","msg":"broken',
  '{}',
];

/** Invalid UTF-8 between valid text. */
const NOT_TEXT = Buffer.concat([
  Buffer.from(line(0, 'INFO', 'a.go:1\tbefore')),
  Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc3, 0x28, 0x0d, 0x0a, 0x00, 0x00, 0x0a]),
  Buffer.from(line(10, 'ERROR', 'a.go:2\tm\0i\x1b[31mddle')),
  Buffer.from([0xf0, 0x9f, 0x99]), // the end of the last character is missing
]);

function manyRecords(): string {
  const levels = ['INFO', 'INFO', 'WARN', 'INFO', 'ERROR'];
  return Array.from({ length: MANY }, (_, index) =>
    line(index * 40, levels[index % 5] ?? '', `many.go:${(index % 7) + 1}\t[Many]: record ${index} of ${MANY}`),
  ).join('');
}

/** The directory of all cases that do not change files. */
export function sharedFiles(): CaseFiles {
  const [oldest = '', older = '', newest = ''] = BROKER;
  return {
    'broker.log': newest,
    'broker.log.1': older,
    'broker.log.2.gz': gzipSync(oldest),
    'server.json.log': `${JSON_RECORDS.join('\n')}\n`,
    'kubelet.log': [
      'I0601 10:00:00.000100 7 server.go:100] "Started" pod="default/web" n=3\n',
      'E0601 10:00:01.000000 7 server.go:200] failed\nmore of it\n',
    ].join(''),
    'epoch.log': '{"ts":"1970-01-01T00:00:00Z","level":"warn","msg":"the epoch"}\n',
    'text.log': 'no time here\n\nERROR neither here\n',
    'crlf.log': [line(0, 'INFO', 'w.go:1\tfrom Windows'), 'more of it\n', line(5, 'WARN', 'w.go:2\tagain')]
      .join('')
      .replaceAll('\n', '\r\n'),
    'open.log': line(0, 'INFO', 'o.go:1\tends without a newline').trimEnd(),
    'bytes.log': NOT_TEXT,
    'long.log': [
      line(0, 'INFO', `l.go:1\tlong ${'ä'.repeat(50_000)} tail`),
      line(1, 'INFO', `l.go:2\tlonger ${'0123456789'.repeat(60_000)} tail`),
    ].join(''),
    'many.log': manyRecords(),
    'empty.log': '',
    'empty.log.1.gz': gzipSync(''),
    'zip.log.gz': gzipSync('compressed and never rotated\nsecond line\n'),
    'damaged.log.1.gz': gzipSync(newest.repeat(50)).subarray(0, 120),
    [ODD_NAME]: line(0, 'INFO', 'odd.go:1\tthe name is odd'),
    [`${'n'.repeat(251)}.log`]: line(0, 'INFO', 'n.go:1\tthe name is as long as can be'),
  };
}

/** The configuration of the observed service: every type of value in TOML, and secrets. */
export const SHARED_CONFIG = `# A broker.
title = "broker \\"1\\" ü 🙂"
ports = [9000, 9001]
ratio = 0.5
started = 2026-06-01T10:00:00Z
empty = ""
none = []

[storage]
dir = 'C:\\data'
password = "hunter2"
limits = { bytes = 1_000_000, "odd key" = true }

[[peer]]
url = "http://user:pass@10.0.0.1:80/?token=abc"

[[peer]]
url = "http://10.0.0.2"
`;
