import { afterEach, describe, expect, it, vi } from 'vitest';
import { Cleanup } from '../bench/cleanup.ts';
import { SMOKE_EFFORT } from '../bench/context.ts';
import { atLeast, atMost, type Group, type Row } from '../bench/group.ts';
import { renderSummary } from '../bench/report.ts';
import { listFailures, runGroups } from '../bench/run-bench.ts';

const MET: Row = { figure: 'lines', porthole: '10', ratio: 0.5, target: atMost(0.5, 1) };
const MISSED: Row = { figure: 'requests/s', porthole: '100', ratio: 0.25, target: atLeast(0.25, 0.35) };
const UNJUDGED: Row = { figure: 'start, ms', porthole: '200' };

function group(name: string, run: Group['run']): Group {
  return { name, needs: [], run };
}

function runBench(...groups: readonly Group[]) {
  return runGroups({ groups, effort: SMOKE_EFFORT, cleanup: new Cleanup() });
}

describe('the bench', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('fails on a target that was missed, and says which', async () => {
    const { groups } = await runBench(group('view', async () => [MET, MISSED, UNJUDGED]));
    expect(listFailures(groups, { checksTargets: true })).toEqual([
      'view: target missed: requests/s: ratio 0.250, not >= 0.35',
    ]);
    expect(listFailures(groups, { checksTargets: false })).toEqual([]);
  });

  it('goes on after a group that fails, and fails', async () => {
    const broken = group('search', () => Promise.reject(new Error('others found more')));
    const { groups } = await runBench(
      broken,
      group('view', async () => [MET]),
    );
    expect(listFailures(groups, { checksTargets: false })).toEqual(['search: failed: others found more']);
    expect(groups.map(({ rows }) => rows.length)).toEqual([0, 1]);
  });

  it('names the programs that a group lacks, and does not run that group', async () => {
    vi.stubEnv('PATH', '');
    const lacking: Group = { ...group('print', async () => [MET]), needs: ['lnav'] };
    const { groups } = await runBench(lacking);
    expect(groups).toMatchObject([
      { name: 'print', rows: [], failure: expect.stringMatching(/apt-get install .*lnav/) },
    ]);
  });

  it('shows the time of each group, and targets only where they are checked', async () => {
    const { groups } = await runBench(group('view', async () => [MISSED]));
    expect(renderSummary(groups, { showsTargets: true })).toMatch(
      /\| view: requests\/s .*\| 0\.250 \| >= 0\.35 \| missed \|/,
    );
    expect(renderSummary(groups, { showsTargets: false })).not.toContain('missed');
    expect(renderSummary(groups, { showsTargets: false })).toMatch(/\| view +\| 0 +\|\n\| all/);
  });
});
