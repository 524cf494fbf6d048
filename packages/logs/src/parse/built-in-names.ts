import { FALLBACK_LAYOUTS, LAYOUT_DEFINITIONS, type LayoutName } from './formats/layout/definitions.ts';

/** Formats with code of their own. */
const CODED_FORMATS = [
  'contract',
  'lindb-access',
  'lindb-slow-sql',
  'json',
  'otlp',
  'glog',
  'capnslog',
  'tidb',
  'log4j',
  'nginx-access',
  'nginx-error',
  'syslog',
  'syslog-5424',
  'iso',
  'python-basic',
  'text',
] as const;

export type BuiltInFormatName = LayoutName | (typeof CODED_FORMATS)[number];

/** In no order: detection has its own. Known without the code of the formats, which takes longer to load. */
export const BUILT_IN_NAMES: readonly BuiltInFormatName[] = [
  ...CODED_FORMATS,
  ...[...LAYOUT_DEFINITIONS, ...FALLBACK_LAYOUTS].map(({ name }) => name),
];
