import type { Group } from './group.ts';
import { archiveGroup } from './groups/archive.ts';
import { besideGroup } from './groups/beside.ts';
import { clusterGroup, recorderGroup, scaleGroup } from './groups/cluster.ts';
import { consoleGroup } from './groups/console.ts';
import { countGroup } from './groups/count.ts';
import { fieldQueryGroup } from './groups/field-query.ts';
import { filesGroup } from './groups/files.ts';
import { followGroup } from './groups/follow.ts';
import { growthGroup } from './groups/growth.ts';
import { operatorGroup } from './groups/operator.ts';
import { parseGroup } from './groups/parse.ts';
import { printGroup } from './groups/print.ts';
import { programGroup } from './groups/program.ts';
import { readersGroup } from './groups/readers.ts';
import { requestsGroup } from './groups/requests.ts';
import { scrubGroup } from './groups/scrub.ts';
import { searchGroup } from './groups/search.ts';
import { seekGroup } from './groups/seek.ts';
import { smallFilesGroup } from './groups/small-files.ts';
import { startGroup } from './groups/start.ts';
import { textIndexGroup } from './groups/text-index.ts';
import { transportsGroup } from './groups/transports.ts';
import { trustGroup } from './groups/trust.ts';
import { viewGroup } from './groups/view.ts';

/** All groups, in the order they run and are shown. A new one is a file in groups/ and a line here. */
export const GROUPS: readonly Group[] = [
  viewGroup,
  requestsGroup,
  scrubGroup,
  growthGroup,
  readersGroup,
  startGroup,
  searchGroup,
  textIndexGroup,
  fieldQueryGroup,
  seekGroup,
  parseGroup,
  countGroup,
  filesGroup,
  smallFilesGroup,
  followGroup,
  besideGroup,
  programGroup,
  printGroup,
  transportsGroup,
  clusterGroup,
  scaleGroup,
  recorderGroup,
  archiveGroup,
  consoleGroup,
  trustGroup,
  operatorGroup,
];
