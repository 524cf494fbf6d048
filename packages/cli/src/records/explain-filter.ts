import { explainQuery, formatQuery, parseRecordFilter } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import { filterToQuery } from '@porthole/logs/query';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { FILTERS, readParameters } from '../parameter-flags.ts';
import { checkQuery } from '../sources/source-flags.ts';

/** Prints which records the flags select: as one query, and in words. Contacts nobody. Resolves with the exit code. */
export async function explainFilter(invocation: Invocation): Promise<number> {
  checkQuery(invocation);
  const { query, label } = readParameters(invocation, FILTERS);
  const zone = createZone(invocation.text('time-zone'));
  const filter = parseRecordFilter(query, { clock: { nowMs: Date.now(), offsetMsAt: zone.offsetMsAt }, label });
  const node = filterToQuery(filter);
  const text = node === undefined ? '' : formatQuery(node);
  const words = node === undefined ? 'every record' : explainQuery(node);
  await invocation.terminal.write(`${text === '' ? '' : `${text}\n`}${words}\n`);
  return EXIT.ok;
}
