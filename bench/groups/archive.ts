import { questionRows } from '../archive-questions.ts';
import { startArchiveServer } from '../archive-server.ts';
import { shippingRows } from '../archive-shipping.ts';
import { FULL_EFFORT } from '../context.ts';
import type { Group } from '../group.ts';

const RECORDS = 5_000_000;
const QUICK_RECORDS = 400_000;

/** What the archive costs beside what ClickHouse costs. */
export const archiveGroup: Group = {
  name: 'archive',
  needs: [],
  async run(context) {
    const { url, tcpPort } = await startArchiveServer(context);
    const records = context.effort.logBytes >= FULL_EFFORT.logBytes ? RECORDS : QUICK_RECORDS;
    return [
      ...(await shippingRows(context, { url, tcpPort, records })),
      ...(await questionRows(context, { url, records })),
    ];
  },
};
