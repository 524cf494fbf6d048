import { onTestFinished } from 'vitest';
import type { Row } from '../model/workspace-state.ts';
import { LogWorkspace, type OpenWorkspace } from '../workspace/log-workspace.ts';
// A workspace loads it with the first search: here it is there at once.
import '../workspace/finder.ts';
import { FakeSource, recordNumber } from './fake-source.ts';
import { ManualClock, settled } from './manual-clock.ts';

export interface TestWorkspace {
  workspace: LogWorkspace;
  source: FakeSource;
  clock: ManualClock;
  /** Settles pending promises and draws. */
  draw(): Promise<void>;
  numbers(): number[];
}

/** A workspace over numbered records; closed when the test ends. */
export async function openTestWorkspace(
  count: number,
  overrides: Partial<OpenWorkspace> & { prepare?: (source: FakeSource) => void } = {},
): Promise<TestWorkspace> {
  const { prepare, ...setup } = overrides;
  const source = new FakeSource(count);
  prepare?.(source);
  const clock = new ManualClock();
  const workspace = new LogWorkspace({ clock });
  onTestFinished(() => workspace.close());
  const draw = async () => {
    await settled();
    clock.frame();
    await settled();
  };
  workspace.open({ source, filter: {}, find: null, start: 'end', isLive: false, ...setup });
  await draw();
  return { workspace, source, clock, draw, numbers: () => recordNumbers(workspace.state.rows) };
}

export function recordNumbers(rows: readonly Row[]): number[] {
  return rows.flatMap((row) => (row.kind === 'record' ? [recordNumber(row.record)] : []));
}

/** Numbers from one to another, both included. */
export function upTo(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
