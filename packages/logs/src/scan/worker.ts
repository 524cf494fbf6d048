/* A scanning thread: runs the jobs it receives, one after the other. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { systemCode } from '../log-error.ts';
import { packedRoom } from './count/value-counts.ts';
import { JobRunner } from './job-runner.ts';
import {
  describeFailure,
  type Job,
  type JobResults,
  type WorkerOptions,
  type WorkerResponse,
  type WorkerTask,
} from './jobs.ts';

/**
 * A third of the weight of other threads: requests come first, and so does the service beside the node. With the lowest
 * priority, a search on a machine with twelve busy processes takes twenty times as long, and most run out of time.
 */
const PRIORITY = 5;

lowerPriority();
const { prepares, contended } = workerData as WorkerOptions;
const others = new Int32Array(contended);
const runner = new JobRunner({ isContended: () => Atomics.load(others, 0) !== 0 });
const port = parentPort;
if (!port) throw new Error('this module runs in a worker thread');

port.on('message', (task: WorkerTask) => {
  const { id, job, cancelled } = task;
  const flag = new Int32Array(cancelled);
  const isCancelled = () => Atomics.load(flag, 0) !== 0;
  const respond = (message: WorkerResponse) => port.postMessage(message);
  runner
    .run(job, isCancelled)
    .then((result) => port.postMessage({ id, result } satisfies WorkerResponse, transferables(result)))
    .catch((error: unknown) => respond({ id, failure: describeFailure(error) }));
});

if (prepares) runner.prepare();
port.postMessage('ready');

/** Buffers that are transferred with the result instead of being copied. */
function transferables(result: JobResults[Job['kind']]): ArrayBuffer[] {
  if (typeof result !== 'object') return [];
  if (Array.isArray(result))
    return result.flatMap((each) => (typeof each === 'object' && 'result' in each ? transferables(each.result) : []));
  if ('counts' in result && 'text' in result.counts) {
    return [...packedRoom(result.counts)];
  }
  if ('segment' in result) return result.segment ? [result.segment.rows.buffer] : [];
  if (!('found' in result)) return [];
  const { text, ends, offsets, times, lengths } = result.found;
  const buffers = [text.buffer, ends.buffer, offsets.buffer, times.buffer, ...(lengths ? [lengths.buffer] : [])];
  // What is empty belongs to nobody, and is the same for all results: it is copied.
  return buffers.filter(({ byteLength }) => byteLength > 0);
}

/** Lowers the thread's priority: requests come first. Only Linux has priorities for threads. */
function lowerPriority(): void {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (Number.isInteger(threadId)) setPriority(threadId, PRIORITY);
  } catch (error) {
    // Without the permission, or on another system, it competes like any other thread.
    if (systemCode(error) === undefined) throw error;
  }
}
