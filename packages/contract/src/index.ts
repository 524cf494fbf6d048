export {
  familySource,
  fileSource,
  formatLogSource,
  isPattern,
  LEVELS,
  type LogSource,
  LogSources,
  matchesPattern,
  parseLogSource,
} from '@porthole/logs/query';
export { contextJson, exactJson, indentJson, isObjectText, parseJson } from '@porthole/records';
export * from './bundle-manifest.ts';
export * from './bytes-text.ts';
export * from './cluster-state.ts';
export * from './config/canonical-value.ts';
export * from './config/flatten-settings.ts';
export * from './coverage.ts';
export * from './errors/errors.ts';
export * from './events.ts';
export * from './incident.ts';
export * from './incident-report.ts';
export * from './labels.ts';
export * from './member.ts';
export * from './node-state.ts';
export { optionalValue, type Query, type ValueKind } from './params/codecs.ts';
export * from './params/follow-positions.ts';
export { FILTER_ROWS } from './params/log-parameters.ts';
export {
  describeParameter,
  encodeBodyParameters,
  encodeParameters,
  formatDefault,
  MAX_BODY_BYTES,
  type Parameter,
  type ParameterRow,
  parseBodyParameters,
} from './params/parameter.ts';
export * from './params/request-rows.ts';
export * from './query/explain-query.ts';
export { formatQuery } from './query/format-query.ts';
export * from './query/parse-query.ts';
export * from './query/pattern-query.ts';
export * from './query/query-context.ts';
export { MAX_QUERY_LENGTH, scanQuery } from './query/scan-query.ts';
export * from './quote.ts';
export * from './records/load-gaps.ts';
export * from './records/merge-counts.ts';
export * from './requests/cluster-requests.ts';
export * from './requests/event-requests.ts';
export * from './requests/record-requests.ts';
export * from './responses.ts';
export * from './routes/member-routes.ts';
export { buildOpenApi } from './routes/openapi.ts';
export * from './routes/route.ts';
export * from './routes/routes.ts';
export * from './saved-views.ts';
export * from './schemas/generated/schemas.ts';
export * from './schemas/json-schema.ts';
export type { DownloadTicket, QueryExplanation, Readiness } from './schemas/response-types.ts';
export * from './time/retry-after.ts';
export * from './time/time-text.ts';
export * from './trace-context.ts';
