import {
  type FILTER_ROWS,
  MAX_REGEX_BYTES,
  MAX_TERM_BYTES,
  MAX_TERMS,
  type SELECTION_ROWS,
} from '../filter-parameters.ts';
import type { DocsOf } from '../parameter.ts';

const BY_ARGUMENT = { absent: 'the WHERE argument names logs and files' };

export const SELECTION_DOCS: DocsOf<typeof SELECTION_ROWS> = {
  file: {
    meaning: 'One file, by name. Without `file` and `family`, all files; not both.',
    proto: 'file',
    cli: BY_ARGUMENT,
  },
  family: {
    meaning:
      'One log: the live file and its rotated and compressed files, by the family name that `/api/v1/log/files` returns.',
    proto: 'family',
    cli: BY_ARGUMENT,
  },
};

export const FILTER_DOCS: DocsOf<typeof FILTER_ROWS> = {
  from: {
    meaning:
      'Records at or after this time: RFC 3339, `2026-11-15 14:05`, `14:05`, `yesterday 18:00`, `15m` (15 minutes ago), epoch seconds or ms.',
    proto: 'from_ms',
    cli: {
      long: 'since',
      short: 'S',
      value: 'time',
      about:
        'at or after this time: RFC 3339, 2026-11-15 14:05, 14:05, yesterday 18:00, 15m (15 minutes ago) or epoch seconds',
    },
  },
  to: {
    meaning: 'Records before this time, written like `from`.',
    proto: 'to_ms',
    cli: { long: 'until', short: 'U', value: 'time', about: 'before this time, same format as --since' },
  },
  level: {
    meaning:
      'This level or a higher one; letter case is ignored, `warning` and `err` are accepted too. Records without a level never match.',
    proto: 'min_level',
    cli: { long: 'level', short: 'l', value: 'level', about: 'this level and above' },
  },
  q: {
    meaning: `A text that must occur in the record. Repeat to require all. \`q\` and \`not\` together at most ${MAX_TERMS} times, each at most ${MAX_TERM_BYTES} bytes.`,
    proto: 'terms',
    cli: { long: 'grep', short: 'g', value: 'text', about: 'containing TEXT, ignoring case; repeat to require all' },
  },
  regex: {
    meaning: `A regular expression that must match somewhere in the record, in RE2 syntax, so that no pattern can stall the node; at most ${MAX_REGEX_BYTES} bytes.`,
    proto: 'regex',
    cli: { long: 'regex', short: 'E', value: 'pattern', about: 'matching this regular expression (RE2 syntax)' },
  },
  not: {
    meaning: 'A text that must not occur in the record. Repeat to exclude several.',
    proto: 'excluded',
    cli: {
      long: 'exclude',
      short: 'e',
      value: 'text',
      about: 'not containing TEXT, ignoring case; repeat to exclude more',
    },
  },
  case: {
    meaning: 'Whether letter case counts in `q`, `not` and `regex`.',
    defaultText: 'insensitive',
    proto: 'case_sensitive',
    cli: { long: 'case-sensitive', on: 'sensitive', about: 'match case in --grep, --regex and --exclude' },
  },
  source: {
    meaning: 'The call site that wrote the record: `file` or `file:line`.',
    proto: 'source',
    cli: { long: 'source', value: 'file:line', about: 'logged by this source file, or this line of it' },
  },
  component: {
    meaning: 'One of the tags of the record, ignoring case.',
    proto: 'component',
    cli: { long: 'component', value: 'name', about: 'logged by this component' },
  },
};
