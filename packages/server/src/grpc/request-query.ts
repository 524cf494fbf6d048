import type { Query } from '@porthole/contract';

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

/**
 * The fields of a message, those of its filter among them, as the parameters of the same question over HTTP: what is
 * refused, and with which words, is decided in one place for both.
 */
export function queryOf(message: object & { filter?: object | null | undefined }): Query {
  const fields: Readonly<Record<string, unknown>> = { ...message.filter, ...message };
  return {
    getAll(name) {
      const value = fields[FIELD_BY_PARAMETER[name] ?? name];
      if (value === undefined || value === null) return [];
      return Array.isArray(value) ? value.map(String) : textsOf(name, value);
    },
  };
}

function textsOf(name: string, value: unknown): string[] {
  if (name === 'case') return value ? ['sensitive'] : [];
  if (name === 'level') return value === 'LEVEL_UNSPECIFIED' ? [] : [String(value).replace('LEVEL_', '').toLowerCase()];
  return [String(value)];
}
