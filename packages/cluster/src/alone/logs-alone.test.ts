import { describe, expect, it } from 'vitest';
import { collectResponse } from '../testing/collect-response.ts';
import { LogDirNode, logLines } from '../testing/log-dir-node.ts';
import { LogsAlone } from './node-alone.ts';

const START_MS = Date.UTC(2026, 10, 15, 5);
const AROUND = { beforeMs: 2000, afterMs: 2000, limit: 4 };

/** Logs of a node with ten records, one in a second. */
function logsAlone() {
  const node = new LogDirNode();
  node.write(
    'a.log',
    logLines(
      'a',
      Array.from({ length: 10 }, (_, index) => START_MS + index * 1000),
    ),
  );
  return new LogsAlone(node, 'n');
}

describe('the logs of one node around a time', () => {
  it('are those of a cluster of it: the nearest, half of them before, with a report', async () => {
    const at = { timeMs: START_MS + 5000 };
    const { records, end } = await collectResponse(logsAlone().around({ ...AROUND, at }));
    expect(records.map(({ node, message }) => `${node} ${message}`)).toEqual(['n a-3', 'n a-4', 'n a-5', 'n a-6']);
    expect(end).toMatchObject({ reason: 'limit', cursor: null, members: [{ id: 'n', outcome: 'ok' }] });
  });

  it('may be that of a record, and filtered', async () => {
    const logs = logsAlone();
    const all = await collectResponse(logs.around({ ...AROUND, at: { timeMs: START_MS + 5000 } }));
    const cursor = all.records[2]?.cursor ?? '';
    const found = logs.around({ ...AROUND, at: { node: 'n', cursor }, excluded: ['a-4'] });
    expect((await collectResponse(found)).messages).toEqual(['a-3', 'a-5', 'a-6']);
  });

  it('are not there around a record of another node', async () => {
    const found = collectResponse(logsAlone().around({ ...AROUND, at: { node: 'm', cursor: 'c' } }));
    await expect(found).rejects.toMatchObject({ code: 'MEMBER_NOT_FOUND' });
  });
});
