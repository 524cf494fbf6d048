export { contextJson, exactJson, indentJson, isObjectText } from '@porthole/records';
export {
  type AroundRequest,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterNode,
  type ClusterNodes,
  type ClusterRecord,
  type ClusterState,
  type ClusterTop,
  type ConfigDifference,
  type ConfigValue,
  clusterItems,
  type ForgetOptions,
  type ForgottenMember,
  type HeldSnapshot,
  type MemberDuplicateFile,
  type MemberFileProblem,
} from './cluster-state.ts';
export { type ConfigShape, flattenSettings, type SettingPath } from './config/flatten-settings.ts';
export { isDrift } from './config/is-drift.ts';
export {
  type AnswerFacts,
  type AskedRange,
  type Coverage,
  coverageOf,
  failures,
  isRest,
  isUnread,
  joinCoverage,
  type Missing,
  type MissingReason,
  missingOfMember,
  withCoverage,
  withSearchCoverage,
} from './coverage.ts';
export { absenceText, gapsText, missingText, outcomeText, reportText, respondedText } from './coverage-text.ts';
export {
  CLIENT_ERRORS,
  codeOf,
  ERROR_KINDS,
  type ErrorCode,
  type ErrorKind,
  errorMessage,
  isErrorCode,
  PortholeError,
  type PortholeErrorOptions,
  type Problem,
  toProblem,
} from './errors/errors.ts';
export {
  isLabelName,
  isLabelPattern,
  LABEL_TEXT,
  type Labels,
  labelsOf,
  MAX_LABEL_CHARACTERS,
  MAX_LABELS,
  matchesLabels,
  parseLabel,
  readLabels,
} from './labels.ts';
export type {
  ArchivePart,
  ConfigDiffRequest,
  Floors,
  Member,
  MemberArchive,
  MemberClock,
  MemberOutcome,
  MemberReport,
  MemberSelection,
  MemberState,
  MembershipState,
  RecordStore,
} from './member.ts';
export {
  type CallOptions,
  type FetchFunction,
  type FetchInit,
  type FetchResponse,
  type FollowOptions,
  type NodeConfig,
  type NodeDescription,
  type NodeObject,
  type NodeProblem,
  type NodeSettings,
  type NodeState,
  type ResponseBudget,
  type SearchOptions,
  type SettingChange,
  type SettingEntry,
  type SettingJson,
  type SettingSource,
  type ShippingLag,
  type ShippingState,
  searchItems,
} from './node-state.ts';
export { encodeBodyParameters, MAX_BODY_BYTES, parseBodyParameters } from './params/body-parameters.ts';
export { MEMBER_ID, MEMBER_ROLE } from './params/codecs.ts';
export { decodeFollowPositions, encodeFollowPositions } from './params/follow-positions.ts';
export { DEFAULT_VIEW_BYTES, FILTER_ROWS } from './params/log-parameters.ts';
export {
  describeParameter,
  encodeParameters,
  formatDefault,
  type Parameter,
  type ParameterRow,
  parseParameters,
} from './params/parameter.ts';
export { optionalValue, type Query } from './params/query.ts';
export { formatSourceText, type LogSourceText, parseSourceText } from './params/source-text.ts';
export { addTerm } from './query/add-term.ts';
export { explainQuery } from './query/explain-query.ts';
export { formatQuery } from './query/format-query.ts';
export { parseQuery } from './query/parse-query.ts';
export { type QueryContext, queryContext } from './query/query-context.ts';
export { MAX_QUERY_LENGTH } from './query/query-limits.ts';
export { pastRequest, readPast } from './records/digest-past.ts';
export { showHidden } from './records/hidden-characters.ts';
export { LEVELS } from './records/levels.ts';
export { loadGaps } from './records/load-gaps.ts';
export { isPattern, matchesPattern } from './records/match-pattern.ts';
export { type BucketSource, type MergedBucket, mergeBuckets } from './records/merge-buckets.ts';
export { type FieldsSource, isDistinctMinimum, type MergedField, mergeFields } from './records/merge-fields.ts';
export { compareValues, type MergedValue, mergeTop, type TopSource } from './records/merge-top.ts';
export { isSameFile } from './records/same-file.ts';
export {
  type BundleRequest,
  type DownloadRequest,
  decodeMemberId,
  encodeAround,
  encodeBundle,
  encodeClusterDigest,
  encodeClusterFields,
  encodeClusterFollow,
  encodeClusterHistogram,
  encodeClusterSearch,
  encodeClusterTop,
  encodeConfigDiff,
  encodeMembers,
  parseAroundRequest,
  parseBundleRequest,
  parseClusterDigestRequest,
  parseClusterFieldsRequest,
  parseClusterFollowRequest,
  parseClusterHistogramRequest,
  parseClusterSearchRequest,
  parseClusterTopRequest,
  parseConfigDiffRequest,
  parseDownloadRequest,
  parseMemberSelection,
} from './requests/cluster-requests.ts';
export {
  encodeFile,
  encodeView,
  type FileRequest,
  parseFileRequest,
  parseViewRequest,
  type ViewRequest,
} from './requests/file-requests.ts';
export {
  encodeDigest,
  encodeFields,
  encodeFilter,
  encodeFollow,
  encodeHistogram,
  encodeSearch,
  encodeTop,
  parseBudget,
  parseDigestRequest,
  parseExplainRequest,
  parseFieldsRequest,
  parseFollowRequest,
  parseHistogramRequest,
  parseRecordFilter,
  parseSearchRequest,
  parseTopRequest,
  type SearchLimits,
  type WithQueryText,
} from './requests/record-requests.ts';
export { ResponseClock } from './response-clock.ts';
export {
  getMemberOperation,
  getMemberPath,
  getMemberRoute,
  MEMBER_ROUTE_IDS,
  type MemberRouteId,
} from './routes/member-routes.ts';
export { buildOpenApi } from './routes/openapi.ts';
export {
  HEARTBEAT_HEADER,
  MEMBER_HEARTBEAT_MS,
  ONLY_RAW,
  PATHS,
  POSITION_COMMENT,
  RECORDS_HEADER,
} from './routes/paths.ts';
export { isRole, mayUse, ROLES, type Role, type Route, type RouteRole } from './routes/route.ts';
export { COMMON_ERRORS, getRoute, ROUTE_IDS, ROUTES, type RouteId } from './routes/routes.ts';
export {
  BUNDLE_MANIFEST_SCHEMA,
  type BundleEntry,
  type BundleManifest,
  bundleFileName,
  MANIFEST_NAME,
  type MissingEntry,
} from './schemas/bundle-manifest.ts';
export type { DownloadTicket, QueryExplanation, Readiness } from './schemas/response-types.ts';
export type { JsonSchema } from './schemas/schema-builders.ts';
export { SCHEMAS, type SchemaName } from './schemas/schemas.ts';
export { SizedBytes } from './sized-bytes.ts';
export { DURATION_UNITS, durationText, parseSpan, readDuration } from './time/duration-text.ts';
export { type RequestClock, rangeProblem, readTime, timeText } from './time/time-text.ts';
