import { caseSensitivity, familyName, fileName, level, text, texts, timestamp } from './codecs.ts';
import type { Parameter } from './parameter.ts';

/* Which logs, and which records. A new filter is a row here, its matching in `logs` and where it is shown. */

/** Enough for what a person searches for, and few enough to match every byte of a log against all of them. */
export const MAX_TERMS = 32;
const MAX_TERM_BYTES = 1024;
const MAX_REGEX_BYTES = 2048;

export const BY_ARGUMENT = { absent: 'the WHERE argument names logs and files' };

/** Which logs. */
export const SELECTION_ROWS = [
  {
    name: 'file',
    field: 'file',
    codec: fileName,
    meaning: 'One file, by name. Without `file` and `family`, all files; not both.',
    proto: 'file',
    cli: BY_ARGUMENT,
  },
  {
    name: 'family',
    field: 'family',
    codec: familyName,
    meaning:
      'One log: the live file and its rotated and compressed files, by the family name that `/api/v1/log/files` returns.',
    proto: 'family',
    cli: BY_ARGUMENT,
  },
] as const satisfies readonly Parameter[];

/** Which records. Every condition that is given must hold. */
export const FILTER_ROWS = [
  {
    name: 'from',
    field: 'fromMs',
    codec: timestamp,
    meaning:
      'Records at or after this time: RFC 3339, `2026-11-15 14:05`, `14:05`, `yesterday 18:00`, `15m` (15 minutes ago), epoch seconds or ms.',
    proto: 'from_ms',
    cli: {
      long: 'since',
      short: 'S',
      value: 'time',
      about:
        'from this time on: RFC 3339, 2026-11-15 14:05, 14:05, yesterday 18:00, 15m (15 minutes ago) or epoch seconds',
    },
  },
  {
    name: 'to',
    field: 'toMs',
    codec: timestamp,
    meaning: 'Records before this time, written like `from`.',
    proto: 'to_ms',
    cli: { long: 'until', short: 'U', value: 'time', about: 'before this time, written like --since' },
  },
  {
    name: 'level',
    field: 'minLevel',
    codec: level,
    meaning:
      'This level or a higher one; letter case is ignored, `warning` and `err` are accepted too. Records without a level never match.',
    proto: 'min_level',
    cli: { long: 'level', short: 'l', value: 'level', about: 'this level or a higher one' },
  },
  {
    name: 'q',
    field: 'terms',
    codec: texts({ maxBytes: MAX_TERM_BYTES }),
    meaning: `A text that must occur in the record. Repeat to require all. \`q\` and \`not\` together at most ${MAX_TERMS} times, each at most ${MAX_TERM_BYTES} bytes.`,
    proto: 'terms',
    cli: { long: 'grep', short: 'g', value: 'text', about: 'containing TEXT, ignoring case; repeat to require all' },
  },
  {
    name: 'regex',
    field: 'regex',
    codec: text({ maxBytes: MAX_REGEX_BYTES }),
    meaning: `A regular expression that must match somewhere in the record, in RE2 syntax, so that no pattern can stall the node; at most ${MAX_REGEX_BYTES} bytes.`,
    proto: 'regex',
    cli: { long: 'regex', short: 'E', value: 'pattern', about: 'matching this regular expression (RE2 syntax)' },
  },
  {
    name: 'not',
    field: 'excluded',
    codec: texts({ maxBytes: MAX_TERM_BYTES }),
    meaning: 'A text that must not occur in the record. Repeat to exclude several.',
    proto: 'excluded',
    cli: { long: 'exclude', short: 'e', value: 'text', about: 'not containing TEXT; repeat to exclude several' },
  },
  {
    name: 'case',
    field: 'caseSensitive',
    codec: caseSensitivity,
    meaning: 'Whether letter case counts in `q`, `not` and `regex`.',
    defaultText: 'insensitive',
    proto: 'case_sensitive',
    cli: { long: 'case-sensitive', about: 'match letter case in --grep, --regex and --exclude' },
  },
  {
    name: 'source',
    field: 'source',
    codec: text({ maxBytes: MAX_TERM_BYTES }),
    meaning: 'The call site that wrote the record: `file` or `file:line`.',
    proto: 'source',
    cli: { long: 'source', value: 'call-site', about: 'written by this code: file or file:line' },
  },
  {
    name: 'component',
    field: 'component',
    codec: text({ maxBytes: MAX_TERM_BYTES }),
    meaning: 'One of the tags of the record, ignoring case.',
    proto: 'component',
    cli: { long: 'component', value: 'name', about: 'with this tag' },
  },
] as const satisfies readonly Parameter[];
