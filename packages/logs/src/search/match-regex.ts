import { LogError } from '../log-error.ts';
import type { WorkerPool } from '../scan/worker-pool.ts';
import type { ReadOptions, RecordFilter } from '../types.ts';
import { StopReason } from './stop-reason.ts';

/** Bytes a thread tests a regex on at a time. */
const TESTED_BYTES = 64 * 1024;

/** Testing usually takes a millisecond. A regex that takes this long could not keep up with any log. */
const TEST_BUDGET_MS = 5000;

/** Which of the texts the filter's regex matches; computed by threads in batches, so that others get their turn. */
export async function matchRegex(
  pool: WorkerPool,
  { filter, texts }: { filter: RecordFilter; texts: readonly Buffer[] },
  options: ReadOptions = {},
): Promise<boolean[]> {
  const matches: boolean[] = [];
  while (matches.length < texts.length) {
    let end = matches.length;
    for (let bytes = 0; end < texts.length && bytes < TESTED_BYTES; end++) bytes += texts[end]?.length ?? 0;
    const some = texts.slice(matches.length, end);
    const stop = new StopReason({ ...options, budgetMs: TEST_BUDGET_MS });
    const flag = stop.newFlag();
    try {
      matches.push(...(await pool.run({ kind: 'regex', filter, texts: some }, flag)));
    } catch (error) {
      throw stop.reason === 'time budget' ? tooSlow(some.length) : error;
    } finally {
      stop.end();
    }
  }
  return matches;
}

function tooSlow(records: number): LogError {
  const detail = `the regex took longer than ${TEST_BUDGET_MS} ms to test on ${records} of the records`;
  return new LogError('REGEX_TOO_COMPLEX', detail);
}
