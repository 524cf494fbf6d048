import { PortholeError } from '@porthole/client';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { positionAt } from '../source/log-source.ts';
import { FakeSource, FIRST_MS, recordNumber } from '../testing/fake-source.ts';
import { ManualClock, settled } from '../testing/manual-clock.ts';
import { LogWorkspace } from './log-workspace.ts';

interface Stage {
  workspace: LogWorkspace;
  source: FakeSource;
  clock: ManualClock;
}

type Act = (stage: Stage) => void;

const ACTS: readonly fc.Arbitrary<{ name: string; act: Act }>[] = [
  fc
    .integer({ min: 1, max: 2600 })
    .map((count) => ({ name: `write ${count}`, act: ({ source }) => source.write(count) })),
  fc.constant({ name: 'frame', act: ({ clock }) => clock.frame() }),
  fc.constant({ name: 'pause', act: ({ workspace }) => workspace.pause() }),
  fc.constant({ name: 'resume', act: ({ workspace }) => workspace.resume() }),
  fc.constant({ name: 'older', act: ({ workspace }) => workspace.loadMore('older') }),
  fc.constant({ name: 'newer', act: ({ workspace }) => workspace.loadMore('newer') }),
  fc.constant({ name: 'stop', act: ({ workspace }) => workspace.stopLoading() }),
  fc.constant({ name: 'retry', act: ({ workspace }) => workspace.retry() }),
  fc.constant({ name: 'to first', act: ({ workspace }) => workspace.toFirst() }),
  fc.constant({ name: 'to last', act: ({ workspace }) => workspace.toLast() }),
  fc
    .integer({ min: -300, max: 300 })
    .map((by) => ({ name: `move ${by}`, act: ({ workspace }) => workspace.moveFocus(by) })),
  fc.double({ min: 0, max: 1, noNaN: true }).map((fraction) => ({
    name: `jump ${fraction}`,
    act: ({ workspace }) => workspace.jump(positionAt(fraction, workspace.state.extent)),
  })),
  fc.constantFrom('older' as const, 'newer' as const).map((direction) => ({
    name: `error ${direction}`,
    act: ({ workspace }) => workspace.toLevel('ERROR', direction),
  })),
  fc.constant({
    name: 'load gaps',
    act: ({ workspace }) => {
      for (const row of workspace.state.rows) if (row.kind === 'gap' && row.range) void workspace.loadGap(row.key);
    },
  }),
  fc.constant({
    name: 'break',
    act: ({ source }) => source.breakFollow(new PortholeError('UNREACHABLE', 'it was cut')),
  }),
  fc.integer({ min: 100, max: 20_000 }).map((ms) => ({ name: `wait ${ms}`, act: ({ clock }) => clock.advance(ms) })),
  fc.constant({
    name: 'event',
    act: ({ source }) => source.emit({ type: 'missing', node: 'n1', family: 'a.log' }),
  }),
];

/** Rows are in order without duplicates, and missing numbers are marked by a gap row. */
function checkRows({ state }: LogWorkspace): void {
  let last: number | undefined;
  let isGap = false;
  for (const row of state.rows) {
    if (row.kind === 'gap') isGap = true;
    if (row.kind !== 'record') continue;
    const number = recordNumber(row.record);
    if (last !== undefined && !isGap) expect(number).toBe(last + 1);
    if (last !== undefined) expect(number).toBeGreaterThan(last);
    last = number;
    isGap = false;
  }
  expect(new Set(state.rows.map(({ key }) => key)).size).toBe(state.rows.length);
}

/** An edge that claims to be complete is complete. */
function checkEnds({ state }: LogWorkspace, { size }: FakeSource): void {
  const records = state.rows.flatMap((row) => (row.kind === 'record' ? [recordNumber(row.record)] : []));
  if (state.top.kind === 'done' && records.length > 0) expect(records[0]).toBe(0);
  if (state.follow.state === 'live' && records.length > 0) expect(records.at(-1)).toBe(size - 1);
}

describe('for any sequence of operations', () => {
  it('rows are in order, without duplicates, and gaps are marked', async () => {
    const acts = fc.array(fc.oneof(...ACTS), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 3000 }), fc.boolean(), acts, async (count, isLive, steps) => {
        const source = new FakeSource(count);
        const clock = new ManualClock();
        const workspace = new LogWorkspace({ clock });
        try {
          workspace.open({ source, filter: {}, find: null, start: { timeMs: FIRST_MS + count * 250 }, isLive });
          for (const { act } of steps) {
            act({ workspace, source, clock });
            await settled();
            checkRows(workspace);
          }
          clock.frame();
          await settled();
          clock.frame();
          checkRows(workspace);
          checkEnds(workspace, source);
        } finally {
          workspace.close();
        }
        await settled();
        expect(source.followers).toBe(0);
      }),
      { numRuns: runs(30) },
    );
  });
});
