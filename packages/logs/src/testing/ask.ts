import type { LogDir } from '../log-dir.ts';
import type { AskOptions } from '../search/stop-reason.ts';
import type { FoundRecord, SearchEnd, SearchQuery } from '../types.ts';
import type { ToldRecord } from './slow-logs.ts';

export interface Answer {
  records: FoundRecord[];
  end: SearchEnd;
}

type Asked = Partial<SearchQuery>;

/** A whole answer. Everything is asked for unless the query says otherwise. */
export async function ask(logs: LogDir, query: Asked, options: AskOptions = {}): Promise<Answer> {
  const records: FoundRecord[] = [];
  let end: SearchEnd | undefined;
  for await (const batch of logs.search(fill(query), options)) {
    for (const item of batch) {
      if (end) throw new Error('something comes behind the end');
      if (item.type === 'record') records.push(item);
      else end = item;
    }
  }
  if (!end) throw new Error('the answer has no end');
  return { records, end };
}

export function fill(query: Asked): SearchQuery {
  return { order: 'oldest', limit: 1_000_000, before: 0, after: 0, ...query };
}

/** All pages of an answer, each begun at the cursor of the one before. */
export async function askPages(logs: LogDir, query: Asked, sizes: readonly number[]): Promise<FoundRecord[]> {
  const records: FoundRecord[] = [];
  let page: Asked = query;
  for (let turn = 0; ; turn++) {
    const { records: more, end } = await ask(logs, { ...page, limit: sizes[turn % sizes.length] ?? 1 });
    records.push(...more);
    if (end.cursor === null) return records;
    if (end.reason === 'exhausted') throw new Error('an exhausted answer has a cursor');
    const { start: _start, ...rest } = query;
    page = { ...rest, start: { cursor: end.cursor } };
  }
}

export function toldOf({ cursor: _cursor, before: _before, after: _after, ...told }: FoundRecord): ToldRecord {
  return told;
}
