import { caseSensitivity, familyName, fileName, level, text, texts, timestamp } from './codecs.ts';
import type { ParameterRow } from './parameter.ts';

/* Which logs, and which records. A new filter is a row here and in docs/filter-docs.ts, its matching in `logs`, and where it is shown. */

/** Enough for what a person searches for, and few enough to match every byte of a log against all of them. */
export const MAX_TERMS = 32;
export const MAX_TERM_BYTES = 1024;
export const MAX_REGEX_BYTES = 2048;

/** Which logs. */
export const SELECTION_ROWS = [
  { name: 'file', field: 'file', codec: fileName },
  { name: 'family', field: 'family', codec: familyName },
] as const satisfies readonly ParameterRow[];

/** Which records. Every condition that is given must hold. */
export const FILTER_ROWS = [
  { name: 'from', field: 'fromMs', codec: timestamp },
  { name: 'to', field: 'toMs', codec: timestamp },
  { name: 'level', field: 'minLevel', codec: level },
  { name: 'q', field: 'terms', codec: texts({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'regex', field: 'regex', codec: text({ maxBytes: MAX_REGEX_BYTES }) },
  { name: 'not', field: 'excluded', codec: texts({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'case', field: 'caseSensitive', codec: caseSensitivity },
  { name: 'source', field: 'source', codec: text({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'component', field: 'component', codec: text({ maxBytes: MAX_TERM_BYTES }) },
] as const satisfies readonly ParameterRow[];
