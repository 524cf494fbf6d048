import { allRecordsRows } from '../cluster-all-rows.ts';
import { searchRows } from '../cluster-search-rows.ts';
import type { Group } from '../group.ts';

/** What it costs that any node answers for all. */
export const clusterGroup: Group = {
  name: 'cluster',
  needs: [],
  async run(context) {
    context.log('  merged search');
    return [...(await searchRows(context)), ...(await allRecordsRows(context))];
  },
};
