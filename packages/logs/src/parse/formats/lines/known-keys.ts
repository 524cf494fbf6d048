/** What a key of a JSON or logfmt record means. */
export type KeyKind = 'time' | 'level' | 'priority' | 'gelf' | undefined;

/*
 * Names of keys, in any case. Of several with a value that fits, the first in the line counts; docs/formats.md lists them.
 */
export const TIME_KEYS = [
  ...[
    'time',
    'ts',
    'timestamp',
    '@timestamp',
    't',
    '@t',
    'date',
    'datetime',
    'date_time',
    'asctime',
    'timemillis',
    '@time',
  ],
  ...[
    'eventtime',
    'log_time',
    'start_time',
    'started_at',
    'timeunixnano',
    '__realtime_timestamp',
    '$date',
    'epochsecond',
  ],
];
export const LEVEL_KEYS = [
  ...['level', 'lvl', 'severity', 'levelname', 'log.level', '@l', '@level', 'loglevel', 'log_level', 'level_name'],
  ...['severitytext', 'severity_text', 'error_severity', 'label', 's'],
];
/** Keys of severities from 0 to 7. `level` is one, too, in GELF, whose records have a `short_message`. */
export const PRIORITY_KEYS = ['priority', 'syslog_severity'];
export const GELF_KEYS = ['short_message'];
export const MESSAGE_KEYS = [
  ...['msg', 'message', 'log', '@m', '@mt', '@message', 'renderedmessage', 'messagetemplate', 'event', 'short_message'],
  ...['body', 'text'],
];
export const SOURCE_KEYS = ['caller', 'source'];
export const TAG_KEYS = [
  ...['logger', 'component', 'name', 'module', 'subsys', 'logger_name', 'loggername', '@module', 'c', 'category'],
  ...['channel', 'target', 'syslog_identifier', 'log.logger', '_systemd_unit'],
];

/** Objects whose members stand for those of the record, if it has none itself: ECS, tracing, logstash. */
export const NESTED_KEYS = ['log', 'fields', '@fields'];

const TAKEN_KEYS: ReadonlySet<string> = new Set(
  [TIME_KEYS, LEVEL_KEYS, PRIORITY_KEYS, GELF_KEYS, MESSAGE_KEYS, SOURCE_KEYS, TAG_KEYS].flat(),
);

/** Whether a member with this key may be a column of a JSON record instead of a part of its context. */
export function isTakenKey(key: string): boolean {
  return TAKEN_KEYS.has(key) || TAKEN_KEYS.has(key.toLowerCase());
}

interface KnownKey {
  text: Buffer;
  kind: KeyKind;
}

/** Few keys have the same length, so most are distinguished without comparing their letters. */
const KEYS_BY_LENGTH: KnownKey[][] = [];
const KINDS = [
  ['time', TIME_KEYS],
  ['level', LEVEL_KEYS],
  ['priority', PRIORITY_KEYS],
  ['gelf', GELF_KEYS],
] as const;
for (const [kind, keys] of KINDS) {
  for (const key of keys) {
    KEYS_BY_LENGTH[key.length] ??= [];
    KEYS_BY_LENGTH[key.length]?.push({ text: Buffer.from(key), kind });
  }
}
/** Letters of the longest key. */
export const LONGEST_KEY = KEYS_BY_LENGTH.length - 1;
for (let length = 0; length <= LONGEST_KEY; length++) KEYS_BY_LENGTH[length] ??= [];

/** What a key means, in any case: .NET writes `Timestamp` and `Level`. */
export function keyKind(bytes: Buffer, start: number, end: number): KeyKind {
  const length = end - start;
  if (length < 1 || length > LONGEST_KEY) return undefined;
  const candidates = KEYS_BY_LENGTH[length];
  if (!candidates) return undefined;
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index];
    if (candidate && isSame(bytes, start, candidate.text)) return candidate.kind;
  }
  return undefined;
}

function isSame(bytes: Buffer, start: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index++) {
    const byte = bytes[start + index] ?? 0;
    const lower = byte >= 65 && byte <= 90 ? byte | 0x20 : byte;
    if (lower !== text[index]) return false;
  }
  return true;
}
