export { encodeBodyParameters, MAX_BODY_BYTES, parseBodyParameters } from './body-parameters.ts';
export { parseBudget } from './budget.ts';
export {
  BUNDLE_MANIFEST_SCHEMA,
  type BundleEntry,
  type BundleManifest,
  bundleFileName,
  MANIFEST_NAME,
  type MissingEntry,
} from './bundle-manifest.ts';
export { type BundleRequest, encodeBundle, parseBundleRequest } from './bundle-request.ts';
export {
  decodeMemberId,
  MEMBER_ID,
  MEMBER_ROLE,
  parseClusterDigestRequest,
  parseClusterFollowRequest,
  parseClusterHistogramRequest,
  parseClusterSearchRequest,
  parseMemberSelection,
  parseMomentRequest,
} from './cluster-request.ts';
export type {
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
  MomentRequest,
} from './cluster-state.ts';
export { parseDigestRequest } from './digest-request.ts';
export { type DownloadRequest, parseDownloadRequest } from './download-request.ts';
export { parseSpan } from './duration-text.ts';
export {
  encodeClusterDigest,
  encodeClusterFollow,
  encodeClusterHistogram,
  encodeClusterSearch,
  encodeMembers,
  encodeMoment,
} from './encode-cluster.ts';
export {
  encodeDigest,
  encodeFile,
  encodeFilter,
  encodeFollow,
  encodeHistogram,
  encodeSearch,
  encodeView,
} from './encode-query.ts';
export {
  CLIENT_ERRORS,
  codeOf,
  ERROR_KINDS,
  type ErrorCode,
  type ErrorKind,
  isErrorCode,
  PortholeError,
} from './errors.ts';
export { contextJson, exactJson, indentJson, isObjectText } from './exact-json.ts';
export { type FileRequest, parseFileRequest } from './file-request.ts';
export { decodeFollowPositions, encodeFollowPositions } from './follow-positions.ts';
export { parseFollowRequest } from './follow-request.ts';
export { showHidden } from './hidden-characters.ts';
export { parseHistogramRequest } from './histogram-request.ts';
export { LEVELS } from './levels.ts';
export { loadGaps } from './load-gaps.ts';
export { isPattern, matchesPattern } from './match-pattern.ts';
export {
  MEMBER_ROUTE_IDS,
  type MemberRouteId,
  memberOperationOf,
  memberPathOf,
  memberRouteOf,
} from './member-routes.ts';
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
export { buildOpenApi } from './openapi.ts';
export { PATHS } from './paths.ts';
export { type Problem, toProblem } from './problem.ts';
export { given, type Query } from './query.ts';
export { isRole, mayUse, ROLES, type Role, type RouteRole } from './roles.ts';
export type { Route, RouteParameter } from './route.ts';
export { COMMON_ERRORS, ROUTE_IDS, ROUTES, type RouteId, routeOf } from './routes.ts';
export { isSameFile } from './same-file.ts';
export type { JsonSchema } from './schema-parts.ts';
export { SCHEMAS, type SchemaName } from './schemas.ts';
export { parseSearchRequest, type SearchLimits } from './search-request.ts';
export { type LogSourceText, parseSourceText, writeSourceText } from './source-text.ts';
export { type RequestClock, rangeProblem, readTime, timeText } from './time-text.ts';
export { DEFAULT_VIEW_BYTES, parseViewRequest, type ViewRequest } from './view-request.ts';
