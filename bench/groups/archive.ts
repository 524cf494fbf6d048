import { questionRows } from '../archive-questions.ts';
import { startArchiveServer } from '../archive-server.ts';
import { shippingRows } from '../archive-shipping.ts';
import type { Group } from '../group.ts';

/** What the archive costs beside what ClickHouse costs. */
export const archiveGroup: Group = {
  name: 'archive',
  needs: ['clickhouse-client', 'clickhouse-server'],
  async run(context) {
    const { url, tcpPort } = await startArchiveServer(context);
    const { archivedRecords: records } = context.effort;
    return [
      ...(await shippingRows(context, { url, tcpPort, records })),
      ...(await questionRows(context, { url, records })),
    ];
  },
};
