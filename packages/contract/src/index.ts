export { codeOf, ERROR_KINDS, type ErrorCode, type ErrorKind, isErrorCode, PortholeError } from './errors.ts';
export { type FileRequest, parseFileRequest } from './file-request.ts';
export type {
  CallOptions,
  NodeConfig,
  NodeDescription,
  NodeObject,
  NodeSettings,
  NodeState,
  SettingEntry,
  SettingJson,
  SettingSource,
} from './node-state.ts';
export { buildOpenApi } from './openapi.ts';
export { type Problem, toProblem } from './problem.ts';
export type { Query } from './query.ts';
export { COMMON_ERRORS, ROUTE_IDS, ROUTES, type Route, type RouteId, type RouteParameter, routeOf } from './routes.ts';
export { type JsonSchema, SCHEMAS, type SchemaName } from './schemas.ts';
export { DEFAULT_VIEW_BYTES, parseViewRequest, type ViewRequest } from './view-request.ts';
