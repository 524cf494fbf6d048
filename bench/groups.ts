import type { Group } from './group.ts';
import { archiveGroup } from './groups/archive.ts';
import { clusterGroup } from './groups/cluster.ts';
import { consoleGroup } from './groups/console.ts';
import { followGroup } from './groups/follow.ts';
import { printGroup } from './groups/print.ts';
import { searchGroup } from './groups/search.ts';
import { startGroup } from './groups/start.ts';
import { viewGroup } from './groups/view.ts';

/** All groups, in the order they run and are shown. A new one is a file in groups/ and a line here. */
export const GROUPS: readonly Group[] = [
  viewGroup,
  searchGroup,
  followGroup,
  printGroup,
  startGroup,
  clusterGroup,
  archiveGroup,
  consoleGroup,
];
