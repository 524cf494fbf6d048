import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { batchOf, EMPTY_BATCH, type RecordBatch } from '@porthole/records';

type Merging = typeof import('../packages/cluster/src/records/merge/merge-members.ts');
type Lanes = typeof import('../packages/cluster/src/records/merge/member-lane.ts');

/** About what a chunk of an answer holds. */
const BATCH_RECORDS = 128;

/** As the default settings have it. */
const MAX_PARALLEL = 64;

/** The built code: what a node runs. It is no part of what the package offers to others. */
export async function loadMerge(): Promise<Pick<Merging, 'mergeMembers'> & Pick<Lanes, 'MemberLane'>> {
  const built = (name: string) =>
    import(new URL(`../packages/cluster/dist/records/merge/${name}.js`, import.meta.url).href);
  const { mergeMembers } = (await built('merge-members')) as Merging;
  const { MemberLane } = (await built('member-lane')) as Lanes;
  return { mergeMembers, MemberLane };
}

/**
 * Thousands of records per second that this thread merges. All lanes have the same ready-made records, each by another
 * clock, so that no two records in a row are of the same lane: what costs most.
 */
export async function mergeRate(
  { mergeMembers, MemberLane }: Awaited<ReturnType<typeof loadMerge>>,
  { lanes: laneCount, records }: { lanes: number; records: number },
): Promise<number> {
  const batches = readyBatches(Math.floor(records / laneCount), laneCount);
  const lanes = Array.from({ length: laneCount }, (_, place) => {
    const clock = { offsetMs: -place, uncertaintyMs: 1 };
    const waiting = { firstBatchMs: 60_000, timeoutMs: 60_000 };
    return new MemberLane({
      index: place,
      id: `n${place}`,
      clock,
      newestFirst: false,
      open: () => emit(batches),
      ...waiting,
    });
  });
  let merged = 0;
  let lastMs = -Infinity;
  const startedAt = performance.now();
  for await (const batch of mergeMembers(lanes, { limit: Infinity, maxParallel: MAX_PARALLEL })) {
    for (const { from, to } of batch) merged += to - from;
    const atMs = batch.at(-1)?.atMs ?? lastMs;
    if (atMs < lastMs) throw new Error('the records are not merged in order');
    lastMs = atMs;
  }
  const tookMs = performance.now() - startedAt;
  if (merged !== Math.floor(records / laneCount) * laneCount) throw new Error(`only ${merged} records were merged`);
  return merged / tookMs;
}

async function* emit(
  batches: readonly (RecordBatch | SearchEnd)[],
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  yield EMPTY_BATCH;
  yield* batches;
}

/** The last one has the end. */
function readyBatches(count: number, everyMs: number): (RecordBatch | SearchEnd)[] {
  const batches: RecordBatch[] = [];
  for (let begin = 0; begin < count; begin += BATCH_RECORDS) {
    const length = Math.min(BATCH_RECORDS, count - begin);
    batches.push(batchOf(Array.from({ length }, (_, index) => makeRecord(begin + index, everyMs))));
  }
  const scanned = { scannedBytes: 0, skippedBytes: 0, scannedFiles: 1, coveredFromMs: null, coveredToMs: null };
  const facts = { ...scanned, records: count, problems: [], elapsedMs: 0, cursor: null };
  const end: SearchEnd = { type: 'end', reason: 'exhausted', ...facts };
  return [...batches, end];
}

function makeRecord(number: number, everyMs: number): FoundRecord {
  return {
    type: 'record',
    file: 'broker.log',
    offset: number * 200,
    bytes: 200,
    cursor: `8cc71cbecbcbe508.sg.${number.toString(36)}.1cx5iyi.1s.YnJva2VyLmxvZw`,
    timeMs: Date.UTC(2026, 0, 1) + number * everyMs,
    level: 'WARN',
    source: 'replica/partition.go:78',
    tags: ['replica', 'channel'],
    message: 'replica channel is behind the leader, sending from the last acknowledged sequence',
    context: { shard: number % 64, family: '20260106', took: '617ms' },
  };
}
