import { consoleFollowRows } from '../console-follow-rows.ts';
import { consoleOpenRows } from '../console-open-rows.ts';
import type { Group } from '../group.ts';

/** The page in a browser: how soon it shows lines, and what it takes while they come. */
export const consoleGroup: Group = {
  name: 'console',
  needs: ['chromium'],
  run: async (context) => [...(await consoleOpenRows(context)), ...(await consoleFollowRows(context))],
};
