export { contextJson, exactJson, indentJson, isObjectText } from './exact-json.ts';
export { joinCursors, LogPositions, splitCursors } from './log-positions.ts';
export {
  isBefore,
  type Keyed,
  LaneHeap,
  type MergedRun,
  type MergeOptions,
  mergeByTime,
  type Timed,
} from './merge-by-time.ts';
export {
  batchOf,
  bytesOf,
  copyBatch,
  cursorAt,
  EMPTY_BATCH,
  filterBatch,
  isBatch,
  joinBatches,
  joinBytes,
  type Origin,
  OriginList,
  originAt,
  type RecordBatch,
  recordsOf,
  sliceBatch,
  startOf,
  toBatches,
  toItems,
  toLines,
} from './record-batch.ts';
