import type { Level } from '../../types.ts';
import { exactNumber } from '../exact-context.ts';
import { type Columns, columns } from '../formats/define-format.ts';
import { toColumns } from '../formats/layout/layout-format.ts';
import { compileLineLayout, type LineLayout, LineMatcher } from '../formats/layout/line-layout.ts';
import type { ColumnSet, TimedLine } from '../heads/head-format.ts';
import type { Spelling } from '../heads/time-spellings.ts';
import { LEVEL_WORDS_BY_RANK, LEVELS_BY_RANK } from '../level.ts';
import type { Zone } from '../zone.ts';
import { LAYOUT_COLUMNS, type LayoutColumns, type LayoutColumnsName } from './layout-table.ts';
import {
  readAccessColumns,
  readLog4jColumns,
  readNginxErrorColumns,
  readOtherAccessColumns,
  readPlainColumns,
  readSyslog5424Columns,
  readSyslogColumns,
  readTidbColumns,
} from './text-columns.ts';

type ReadText = (body: string, lead: string, zone: Zone) => Columns | undefined;

/** Columns that are read from the text behind the time, with the bracket that closes behind it, and the text before that. */
function textColumns<Name extends string>(name: Name, spellings: readonly Spelling[], read: ReadText): ColumnSet<Name> {
  return {
    name,
    read: (line, zone) => (spellings.includes(line.spelling) ? read(...splitAtTime(line), zone) : undefined),
  };
}

function splitAtTime({ bytes, start, end, timeAt, timeEnd }: TimedLine): [body: string, lead: string] {
  const isBracketed = bytes[timeEnd] === 93 && bytes[timeAt - 1] === 91;
  const bodyAt = isBracketed ? timeEnd + 1 : timeEnd;
  return [bytes.toString('utf8', bodyAt, end), bytes.toString('utf8', start, bodyAt)];
}

const GLOG = /^ +(\d+) ([^\s\]]+:\d+)(?:\]| ⋮) ?(.*)$/s;

/** glog, klog and CockroachDB: `I1115 00:21:26.600123   12345 file.go:123] message`. */
function readGlogColumns(body: string): Columns | undefined {
  const [, thread, source, message] = GLOG.exec(body) ?? [];
  return source ? columns(message ?? '', { source, context: { thread: exactNumber(thread ?? '') } }) : undefined;
}

const CAPNSLOG = /^ [CEWNIDT] \| (?:([\w./-]+): )?(.*)$/s;
const RAFT = 'raft';

/** Old etcd: `2021-01-01 10:00:00.000000 I | etcdserver: message`, and `raft2021/01/01 10:00:00 INFO: message`. */
function readCapnslogColumns(body: string, lead: string): Columns | undefined {
  if (lead.startsWith(RAFT)) return columns(/^ [A-Z]+: (.*)$/s.exec(body)?.[1] ?? body.trimStart(), { tag: RAFT });
  const [whole, tag, message] = CAPNSLOG.exec(body) ?? [];
  return whole === undefined ? undefined : columns(message ?? '', { ...(tag && { tag }) });
}

const JOURNAL = /^ (\S+) ([^\s:[\]]+)(?:\[(\d+)\])?: ?(.*)$/s;

/** `journalctl -o short-full`: `Sun 2026-11-15 10:00:00 CET host app[123]: message`. */
function readJournalColumns(body: string, lead: string): Columns | undefined {
  const [, host, tag, pid, message = ''] = /^[A-Z][a-z]{2} /.test(lead) ? (JOURNAL.exec(body) ?? []) : [];
  return tag ? columns(message, { tag, context: { host, pid: pid && exactNumber(pid) } }) : undefined;
}

/** java.util.logging on two lines: `Nov 15, 2026 10:00:00 AM com.example.App main`, and the level and message below. */
function readJulColumns(body: string, lead: string): Columns | undefined {
  const [, tag, method] = /[AP]M$/.test(lead) ? (/^ (\S+)(?: (\S+))?$/.exec(body) ?? []) : [];
  return tag ? columns('', { tag, context: { method } }) : undefined;
}

/** Words and letters that layouts take for levels: what they mean is decided where heads are read. */
const LEVELS: Readonly<Record<string, Level>> = Object.fromEntries(
  [...LEVEL_WORDS_BY_RANK.entries(), [3, ['event', 'test', 'any']] as const].flatMap(([rank, words]) =>
    words.map((word) => [word, LEVELS_BY_RANK[rank] ?? 'INFO']),
  ),
);

function layoutColumns<Name extends string>({
  name,
  times,
  lines,
  others = [],
}: LayoutColumns & { name: Name }): ColumnSet<Name> {
  let current: TimedLine | undefined;
  let compiled: { typical: LineMatcher[]; other: LineMatcher[] } | undefined;
  const matcher = (layout: LineLayout) =>
    new LineMatcher(
      layout,
      (_bytes, at, _end, time) => {
        time.end = current?.timeEnd ?? 0;
        return at === current?.timeAt;
      },
      LEVELS,
    );
  const compile = (layouts: readonly string[]) => layouts.map((layout) => matcher(compileLineLayout(layout)));
  const find = (matchers: readonly LineMatcher[], line: TimedLine): Columns | undefined => {
    current = line;
    const found = matchers.find((one) => one.match(line.bytes, line.start, line.end) >= 0);
    return found && toColumns(found, line.bytes);
  };
  const get = () => {
    compiled ??= { typical: compile(lines), other: compile(others) };
    return compiled;
  };
  return {
    name,
    read: (line) => (times.includes(line.spelling) ? find(get().typical, line) : undefined),
    readOther: (line) => find(get().other, line),
  };
}

const ISO = ['iso'] as const;

/** All columns, specific before general: of two that fit a file equally well the first is chosen. */
const COLUMN_SETS = [
  textColumns('tidb', ISO, readTidbColumns),
  textColumns('glog', ['glog'], readGlogColumns),
  textColumns('capnslog', ISO, readCapnslogColumns),
  textColumns('nginx-error', ISO, readNginxErrorColumns),
  textColumns('journal-full', ISO, readJournalColumns),
  textColumns('jul', ['month-day'], readJulColumns),
  ...LAYOUT_COLUMNS.map((definition) => layoutColumns<LayoutColumnsName>(definition)),
  {
    ...textColumns('nginx-access', ['day-month'], readAccessColumns),
    readOther: (line: TimedLine) => readOtherAccessColumns(...splitAtTime(line)),
  },
  textColumns('syslog-5424', ISO, readSyslog5424Columns),
  textColumns('log4j', ISO, readLog4jColumns),
  textColumns('syslog', ['month-day-clock', 'iso'], readSyslogColumns),
  {
    name: 'iso' as const,
    read: (line: TimedLine, zone: Zone) => (isPlain(line) ? readPlainColumns(...splitAtTime(line), zone) : undefined),
  },
];

export type ColumnSetName = (typeof COLUMN_SETS)[number]['name'];

const REDIS_LEAD = /^\d+:\S+ \(?$/;
const KEY_LEAD = /^\w+="?$/;

/** Whether the line starts with its time, has the lead of Redis, or is logfmt. */
function isPlain({ bytes, start, timeAt, spelling }: TimedLine): boolean {
  const lead = bytes.toString('latin1', start, timeAt);
  if (REDIS_LEAD.test(lead)) return spelling === 'day-month' || spelling === 'epoch';
  return spelling === 'iso' && (/^\[?$/.test(lead) || KEY_LEAD.test(lead) || /^\w+=\S+ (?:\S+ )*\w+="?$/.test(lead));
}

const BY_NAME = new Map<string, ColumnSet>(COLUMN_SETS.map((set) => [set.name, set]));

export const COLUMN_SET_NAMES: readonly ColumnSetName[] = COLUMN_SETS.map(({ name }) => name);

export function columnSet(name: string): ColumnSet | undefined {
  return BY_NAME.get(name);
}

/** A set is chosen if at least this share of lines has its columns. */
const TYPICAL_SHARE = 0.5;

/** The first of the sets that most lines have; `undefined` if there is none. */
export function pickColumns(lines: readonly TimedLine[], zone: Zone): ColumnSet | undefined {
  return COLUMN_SETS.find((set) => {
    const wanted = lines.length * TYPICAL_SHARE;
    let typical = 0;
    for (const [index, line] of lines.entries()) {
      if (set.read(line, zone)) typical++;
      if (typical > 0 && typical >= wanted) return true;
      if (typical + lines.length - index - 1 < wanted) return false;
    }
    return false;
  });
}
