import { type Query, timeText } from '@porthole/contract';

/** Fields whose name differs from that of the parameter. */
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

/** Parameters that are timestamps: milliseconds are written so that small numbers are parsed as milliseconds too. */
const TIMES = new Set(['from', 'to', 'time', 'newSince']);

/**
 * The fields of a message and its filter as the parameters of the HTTP route, so that both are validated in one place,
 * with the same error messages.
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
