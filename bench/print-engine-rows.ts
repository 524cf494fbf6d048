import { LogDir } from '@porthole/logs';
import type { BenchContext } from './context.ts';
import type { PrintedLog } from './print-files.ts';
import { median, showNumber } from './rounds.ts';
import { atLeast, type Row } from './row.ts';

const LEAST_TEXT = 1;
const LEAST_JSON = 0.5;

/** By the processor time of all threads: how many records one core renders. */
interface Case {
  figure: string;
  least?: number;
  run(logs: LogDir, query: Query): Promise<number>;
}

interface Query {
  file: string;
  order: 'oldest';
  limit: number;
  before: 0;
  after: 0;
}

const CASES: readonly Case[] = [
  { figure: 'text of all records', least: LEAST_TEXT, run: countText },
  { figure: 'all records as JSON', least: LEAST_JSON, run: (logs, query) => countLines(logs, query) },
  { figure: 'all records as JSON with all fields', run: (logs, query) => countLines(logs, query, ['*']) },
];

/** All records of a log as the engine returns them in this process, without anybody who prints or sends them. */
export async function engineRows(context: BenchContext, log: PrintedLog): Promise<Row[]> {
  context.log('  records of the engine');
  const query: Query = { file: log.file, order: 'oldest', limit: log.records, before: 0, after: 0 };
  const rows: Row[] = [];
  for (const { figure, least, run } of CASES) {
    const logs = new LogDir(log.dir, { workers: 1 });
    try {
      // The threads compile what they run.
      await run(logs, query);
      const rates: number[] = [];
      for (let round = 0; round < context.effort.rounds; round++) {
        const before = process.cpuUsage();
        const found = await run(logs, query);
        const { user, system } = process.cpuUsage(before);
        if (found !== log.records) throw new Error(`${figure}: ${found} of ${log.records}`);
        rates.push(found / (user + system));
      }
      rows.push({
        figure: `${figure} of ${log.size}, in process, million per second of CPU time`,
        porthole: showNumber(median(rates)),
        rounds: rates.map(showNumber).join(', '),
        ...(least !== undefined && { bar: atLeast(median(rates), least) }),
      });
    } finally {
      await logs.close();
    }
  }
  return rows;
}

async function countText(logs: LogDir, query: Query): Promise<number> {
  let records = 0;
  for await (const item of logs.search(query, { reusesMemory: true, asText: true }))
    if (item.type === 'batch') records += item.ends.length;
  return records;
}

async function countLines(logs: LogDir, query: Query, fields?: readonly string[]): Promise<number> {
  for await (const item of logs.search({ ...query, ...(fields && { fields }) }, { reusesMemory: true }))
    if (item.type === 'end') return item.records;
  throw new Error('the search has no end');
}
