import { LogError } from '../log-error.ts';
import type { FileProblem, FollowItem, LogSelection } from '../types.ts';

/**
 * A follow of logs of which some may get no new records now: refused if they were selected by name, reported after the
 * first batch otherwise. A log that is only behind gets its records soon.
 */
export function followDespite(
  problems: readonly FileProblem[],
  selection: LogSelection,
  batches: AsyncGenerator<FollowItem[], void, undefined>,
): AsyncGenerator<FollowItem[], void, undefined> {
  const unavailable = problems.filter(({ code }) => code === 'JOURNAL_UNAVAILABLE');
  return unavailable.length === 0 ? batches : reportFirst(unavailable, selection, batches);
}

async function* reportFirst(
  unavailable: readonly FileProblem[],
  { file, family }: LogSelection,
  batches: AsyncGenerator<FollowItem[], void, undefined>,
): AsyncGenerator<FollowItem[], void, undefined> {
  const [first] = unavailable;
  if (first && (file !== undefined || family !== undefined)) throw new LogError('JOURNAL_UNAVAILABLE', first.detail);
  let isReported = false;
  for await (const items of batches) {
    yield items;
    if (isReported) continue;
    isReported = true;
    yield unavailable.map((problem) => ({ type: 'skipped', count: 1, detail: `${problem.file}: ${problem.detail}` }));
  }
}
