export { contextJson, exactJson, indentJson, isObjectText, parseJson } from './exact-json.ts';
export { joinCursors, LogPositions, splitCursors } from './log-positions.ts';
export {
  countRecords,
  type Keyed,
  LaneHeap,
  type MergedRun,
  MergeLane,
  type MergeOptions,
  mergeByTime,
  type Timed,
  TimeMerge,
} from './merge-by-time.ts';
export {
  batchOf,
  bytesOf,
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
export {
  FRAME_HEAD_BYTES,
  type Frame,
  FrameError,
  type FrameHead,
  readFrame,
  readFrameHead,
  toFrames,
} from './record-frames.ts';
export { renderText } from './record-text.ts';
