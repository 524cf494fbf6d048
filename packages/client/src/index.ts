export type {
  CallOptions,
  ErrorCode,
  ErrorKind,
  FileRequest,
  NodeConfig,
  NodeDescription,
  NodeObject,
  NodeSettings,
  NodeState,
  SearchOptions,
  SettingEntry,
  SettingJson,
  SettingSource,
  ViewRequest,
} from '@porthole/contract';
export { codeOf, ERROR_KINDS, isErrorCode, PortholeError } from '@porthole/contract';
export type {
  ByteAnswer,
  Digest,
  DigestGroup,
  DigestQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  FormatName,
  FoundRecord,
  Histogram,
  HistogramBucket,
  HistogramQuery,
  Level,
  LogEntry,
  LogFileDetails,
  LogSelection,
  OpenLog,
  ReadOptions,
  RecordFields,
  RecordFilter,
  SearchEnd,
  SearchItem,
  SearchQuery,
  StartPoint,
} from '@porthole/logs/types';
export { ClientError } from './client-error.ts';
export type { ClientOptions } from './client-options.ts';
export { createClient } from './create-client.ts';
export type { NodeClient } from './http-node.ts';
