/** In a module of its own: help needs the names, not what formats records. */
export const RECORD_FORMATS = ['pretty', 'raw', 'json', 'logfmt', 'table', 'csv', 'template'] as const;

export type RecordFormat = (typeof RECORD_FORMATS)[number];
