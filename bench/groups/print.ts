import type { Group } from '../group.ts';
import { engineRows } from '../print-engine-rows.ts';
import { ensurePrintedLog } from '../print-files.ts';
import { programRows } from '../print-program-rows.ts';
import { streamRows } from '../print-stream-rows.ts';

/** All records of a log, printed or sent: what it costs to get many of them out. */
export const printGroup: Group = {
  name: 'print',
  needs: ['curl', 'lnav', 'mawk', 'rg'],
  async run(context) {
    const log = await ensurePrintedLog(context);
    return [
      ...(await engineRows(context, log)),
      ...(await programRows(context, log)),
      ...(await streamRows(context, log)),
    ];
  },
};
