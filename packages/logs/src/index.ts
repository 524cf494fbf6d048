export { Condition, pause } from './condition.ts';
export {
  decodeCursor,
  encodeMark,
  positionAnchor,
  type RecordMark,
  resumeCursor,
  START_CURSOR,
} from './cursor/cursor.ts';
export { markFile } from './cursor/file-mark.ts';
export {
  invalidCursor,
  isCursorOf,
  packCursor,
  readInteger,
  readList,
  readOptionalTime,
  readText,
  readTime,
  unpackCursor,
} from './cursor/packed-cursor.ts';
export { isPackedName, plainName } from './file/compression.ts';
export { groupFamilies } from './file/families.ts';
export { createHiddenNames } from './file/hidden-names.ts';
export { assertSafeName, isSafeName } from './file/open-inside.ts';
export { isLeftOver, removeHalfWritten, replaceFile } from './file/replace-file.ts';
export { SeenPaths } from './file/seen-paths.ts';
export { OneChunk } from './file/shared-reads.ts';
export type { LogMount, LogTree, OwnPaths } from './file/tree.ts';
export { readItemText } from './follow/followed-text.ts';
export { LogDir, type LogDirOptions } from './log-dir.ts';
export { LogError, type LogErrorCode } from './log-error.ts';
export { editDistance, nearestNames } from './nearest-names.ts';
export { packageFile } from './package-file.ts';
export { decodeRecord, findColumns, type LogRecord, type RecordColumns, type Span } from './parse/decode-record.ts';
export { readContext, splitMembers } from './parse/exact-context.ts';
export type { FormatName } from './parse/format.ts';
export { type LocalTimes, LocalTimesReader } from './parse/local-times.ts';
export { checkUserFormats, parseUserFormats, type UserFormat } from './parse/user-format.ts';
export { createZone, fixedZoneName, type Zone } from './parse/zone.ts';
export { messageShape } from './query/message-shape.ts';
export { RegexPrefilter } from './regex/prefilter.ts';
export { FieldTable } from './scan/count/field-table.ts';
export { ValueCounts } from './scan/count/value-counts.ts';
export { boundedValue, shownValue } from './scan/count/value-table.ts';
export { createRecordFilter, searchableText } from './scan/match/record-matcher.ts';
export { RegexConditions } from './scan/match/regex-conditions.ts';
export { workerUrl } from './scan/pool-thread.ts';
export { WorkerPool } from './scan/worker-pool.ts';
export { PATTERN_NAMES } from './scrub/patterns.ts';
export { scrubTail } from './scrub/scrub-feed.ts';
export { Scrubbing } from './scrub/scrubber.ts';
export type { FileHead } from './search/files/file-heads.ts';
export type { DeletedRecords } from './search/files/open-family.ts';
export { bucketWidth } from './search/histogram.ts';
export { matchRegex } from './search/match-regex.ts';
export { GroupTable } from './shapes/group-table.ts';
export { mergeGroups } from './shapes/merge-groups.ts';
export { mergeShapes } from './shapes/merge-shapes.ts';
export type {
  ByteStream,
  CountedItem,
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  HistogramQuery,
  Level,
  LogEntry,
  LogFileDetails,
  LogSelection,
  OpenLog,
  ReadOptions,
  RecordFilter,
  SearchEnd,
  SearchItem,
  SearchQuery,
  StartPoint,
  Top,
  TopQuery,
} from './types.ts';
