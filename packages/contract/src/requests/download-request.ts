import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import type { MemberSelection } from '../cluster-state.ts';
import { PortholeError } from '../errors/errors.ts';
import { parameterInvalid, type Query, trueOrFalse } from '../params/query.ts';
import { parseSourceText } from '../params/source-text.ts';
import type { RequestClock } from '../time/time-text.ts';
import { NODE_PATTERN } from './cluster-request.ts';
import { parseRecordFilter } from './record-filter.ts';

/** Whoever wants more of them wants a pattern, or all. */
export const MAX_SOURCES = 64;

export interface DownloadRequest {
  /** One request to the cluster each. Without any, all logs of all members. */
  sources: (LogSelection & MemberSelection)[];
  filter: RecordFilter;
  /** Each line with the node it is from. */
  withNode: boolean;
}

/** Which records are downloaded: those of the sources that meet the conditions. */
export function parseDownloadRequest(query: Query, clock: RequestClock): DownloadRequest {
  const texts = query.getAll('src').filter((text) => text !== '');
  if (texts.length > MAX_SOURCES)
    throw new PortholeError('PARAMETER_INVALID', `"src" is given ${texts.length} times; at most ${MAX_SOURCES} count`);
  const groups = new Map<string, { nodes: string[]; log: LogSelection }>();
  for (const text of texts) {
    const source = parseSourceText(text);
    if (!source || !NODE_PATTERN.test(source.node))
      throw parameterInvalid('src', text, 'NODE, NODE/FAMILY or NODE/=FILE, where NODE may have * and ?');
    const log = source.log === null ? {} : { [source.log.kind]: source.log.name };
    const key = JSON.stringify(log);
    groups.set(key, { log, nodes: [...(groups.get(key)?.nodes ?? []), source.node] });
  }
  return {
    sources: [...groups.values()].map(({ nodes, log }) => ({ ...log, nodes })),
    filter: parseRecordFilter(query, clock),
    withNode: trueOrFalse(query, 'prefix') ?? false,
  };
}
