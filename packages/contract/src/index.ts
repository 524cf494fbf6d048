export type {
  AroundRequest,
  ClusterConfig,
  ClusterConfigDiff,
  ClusterDigest,
  ClusterEnd,
  ClusterFollowItem,
  ClusterHistogram,
  ClusterItem,
  ClusterLogFiles,
  ClusterNode,
  ClusterNodes,
  ClusterRecord,
  ClusterState,
  ConfigDifference,
  ConfigValue,
  ForgetOptions,
  ForgottenMember,
  Member,
  MemberClock,
  MemberDuplicateFile,
  MemberFileProblem,
  MemberOutcome,
  MemberReport,
  MemberSelection,
  MemberState,
  MembershipState,
} from './cluster-state.ts';
export {
  CLIENT_ERRORS,
  codeOf,
  ERROR_KINDS,
  type ErrorCode,
  type ErrorKind,
  isErrorCode,
  PortholeError,
} from './errors/errors.ts';
export { type Problem, toProblem } from './errors/problem.ts';
export type {
  CallOptions,
  FollowOptions,
  NodeConfig,
  NodeDescription,
  NodeObject,
  NodeProblem,
  NodeSettings,
  NodeState,
  ResponseBudget,
  SearchOptions,
  SettingChange,
  SettingEntry,
  SettingJson,
  SettingSource,
} from './node-state.ts';
export { encodeBodyParameters, MAX_BODY_BYTES, parseBodyParameters } from './params/body-parameters.ts';
export { parseBudget } from './params/budget.ts';
export {
  encodeAround,
  encodeClusterDigest,
  encodeClusterFollow,
  encodeClusterHistogram,
  encodeClusterSearch,
  encodeMembers,
} from './params/encode-cluster.ts';
export {
  encodeDigest,
  encodeFile,
  encodeFilter,
  encodeFollow,
  encodeHistogram,
  encodeSearch,
  encodeView,
} from './params/encode-query.ts';
export { decodeFollowPositions, encodeFollowPositions } from './params/follow-positions.ts';
export { optionalValue, type Query } from './params/query.ts';
export { formatSourceText, type LogSourceText, parseSourceText } from './params/source-text.ts';
export { contextJson, exactJson, indentJson, isObjectText } from './records/exact-json.ts';
export { showHidden } from './records/hidden-characters.ts';
export { LEVELS } from './records/levels.ts';
export { loadGaps } from './records/load-gaps.ts';
export { isSameFile } from './records/same-file.ts';
export { type BundleRequest, encodeBundle, parseBundleRequest } from './requests/bundle-request.ts';
export {
  decodeMemberId,
  MEMBER_ID,
  MEMBER_ROLE,
  parseAroundRequest,
  parseClusterDigestRequest,
  parseClusterFollowRequest,
  parseClusterHistogramRequest,
  parseClusterSearchRequest,
  parseMemberSelection,
} from './requests/cluster-request.ts';
export { parseDigestRequest } from './requests/digest-request.ts';
export { type DownloadRequest, parseDownloadRequest } from './requests/download-request.ts';
export { type FileRequest, parseFileRequest } from './requests/file-request.ts';
export { parseFollowRequest } from './requests/follow-request.ts';
export { parseHistogramRequest } from './requests/histogram-request.ts';
export { isPattern, matchesPattern } from './requests/match-pattern.ts';
export { parseSearchRequest, type SearchLimits } from './requests/search-request.ts';
export { DEFAULT_VIEW_BYTES, parseViewRequest, type ViewRequest } from './requests/view-request.ts';
export {
  getMemberOperation,
  getMemberPath,
  getMemberRoute,
  MEMBER_ROUTE_IDS,
  type MemberRouteId,
} from './routes/member-routes.ts';
export { buildOpenApi } from './routes/openapi.ts';
export { PATHS } from './routes/paths.ts';
export { isRole, mayUse, ROLES, type Role, type RouteRole } from './routes/roles.ts';
export type { Route, RouteParameter } from './routes/route.ts';
export { COMMON_ERRORS, getRoute, ROUTE_IDS, ROUTES, type RouteId } from './routes/routes.ts';
export {
  BUNDLE_MANIFEST_SCHEMA,
  type BundleEntry,
  type BundleManifest,
  bundleFileName,
  MANIFEST_NAME,
  type MissingEntry,
} from './schemas/bundle-manifest.ts';
export type { JsonSchema } from './schemas/schema-builders.ts';
export { SCHEMAS, type SchemaName } from './schemas/schemas.ts';
export { parseSpan } from './time/duration-text.ts';
export { type RequestClock, rangeProblem, readTime, timeText } from './time/time-text.ts';
