import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest of each group. Started last, each would run while the other cores have nothing left to do. */
export const LONGEST = [
  'test/node-state.test.ts',
  'e2e/readme.test.ts',
  'packages/logs/src/scan/block-borders.test.ts',
  'packages/logs/src/search/hostile-files.test.ts',
  'test/release.test.ts',
  'e2e/packages.test.ts',
  'packages/logs/src/follow/follow.torture.test.ts',
  'packages/server/src/http/leaks.test.ts',
  'e2e/follow-logrotate.test.ts',
  'e2e/soak.test.ts',
  'e2e/console-access.test.ts',
  'e2e/cluster-story.test.ts',
  'e2e/console-logs.test.ts',
  'e2e/cli-cluster.test.ts',
  'e2e/cli-nodes.test.ts',
  'e2e/cluster-departures.test.ts',
  'e2e/cluster-members.test.ts',
];

/** The longest test files first, then by what the last run has shown, as usual. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((path) => moduleId.endsWith(`/${path}`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
