import type { ClusterRecord } from '@porthole/client';
import { type NodeEvent, toEvent } from '@porthole/contract';

/** From a start of a node to its end. */
export interface Run {
  startMs: number;
  /** `null`: it runs, or the end is not known. */
  endMs: number | null;
  how: 'running' | 'stopped' | 'killed' | 'rebooted' | 'lost' | 'unknown';
  /** `null`: its start is not among the events. */
  version: string | null;
}

/** A start is reported when it is done: at most so much later than the time that other events name it by. */
const START_MS = 60_000;

/** The runs of a node by its own events and by those that others wrote of it, newest first. */
export function nodeRuns(
  records: readonly ClusterRecord[],
  { isUp, lostMs }: { isUp: boolean; lostMs: number | null },
): Run[] {
  const events = records.flatMap((record) => toEvent(record) ?? []).sort((a, b) => a.timeMs - b.timeMs);
  const runs = events
    .filter(({ kind }) => kind === 'started')
    .map(({ timeMs, fields: { version } }): Run => {
      return { startMs: timeMs, endMs: null, how: 'unknown', version: typeof version === 'string' ? version : null };
    });
  for (const event of events) {
    const run = runOf(event, runs);
    if (run) Object.assign(run, endOf(event, run));
  }
  const last = runs.sort((a, b) => a.startMs - b.startMs).at(-1);
  if (last && isUp) Object.assign(last, { endMs: null, how: 'running' });
  else if (last?.how === 'unknown' || last?.how === 'lost')
    Object.assign(last, { endMs: lostMs ?? last.endMs, how: 'lost' });
  return runs.reverse();
}

/** The run that an event is about; it is added if its start is not known any more. */
function runOf({ fields: { run: named } }: NodeEvent, runs: Run[]): Run | undefined {
  if (typeof named !== 'number') return undefined;
  const known = runs.find(({ startMs }) => startMs >= named && startMs < named + START_MS);
  if (known) return known;
  const added: Run = { startMs: named, endMs: null, how: 'unknown', version: null };
  runs.push(added);
  return added;
}

function endOf({ kind, timeMs, fields }: NodeEvent, run: Run): Partial<Run> {
  switch (kind) {
    case 'stopped':
    case 'member-left':
      return { endMs: timeMs, how: 'stopped' };
    case 'killed':
      // The node itself knows only to some seconds when it was last alive; others may have seen its end.
      return { endMs: run.endMs ?? timeMs, how: fields.isReboot === true ? 'rebooted' : 'killed' };
    case 'member-lost':
      if (run.how !== 'unknown') return {};
      return { endMs: typeof fields.lastSignMs === 'number' ? fields.lastSignMs : timeMs, how: 'lost' };
    case 'member-back':
      // Only the connection to it was lost.
      return run.how === 'lost' ? { endMs: null, how: 'unknown' } : {};
    default:
      return {};
  }
}
