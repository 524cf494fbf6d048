import { type Query, timeText } from '@porthole/contract';

/** Fields that have another name than the parameter of the same meaning. */
const FIELD_BY_PARAMETER: Readonly<Record<string, string>> = {
  from: 'from_ms',
  to: 'to_ms',
  level: 'min_level',
  q: 'terms',
  not: 'excluded',
  case: 'case_sensitive',
  time: 'time_ms',
  budget: 'budget_ms',
  bucket: 'bucket_ms',
  newSince: 'new_since_ms',
  onlyNew: 'only_new',
};

/** Parameters that are times: a number of milliseconds, however small, is written so that it is read as one. */
const TIMES = new Set(['from', 'to', 'time', 'newSince']);

/**
 * The fields of a message, those of its filter among them, as the parameters of the same question over HTTP: what is
 * refused, and with which words, is decided in one place for both.
 */
export function toQuery(message: object & { filter?: object | null | undefined }): Query {
  const fields: Readonly<Record<string, unknown>> = { ...message.filter, ...message };
  return {
    getAll(name) {
      const value = fields[FIELD_BY_PARAMETER[name] ?? name];
      if (value === undefined || value === null) return [];
      return Array.isArray(value) ? value.map(String) : toTexts(name, value);
    },
  };
}

function toTexts(name: string, value: unknown): string[] {
  if (TIMES.has(name)) return [timeText(Number(value))];
  if (name === 'case') return value ? ['sensitive'] : [];
  if (name === 'level') return value === 'LEVEL_UNSPECIFIED' ? [] : [String(value).replace('LEVEL_', '').toLowerCase()];
  return [String(value)];
}
