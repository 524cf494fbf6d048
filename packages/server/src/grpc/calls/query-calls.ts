import { explainQuery, formatQuery, parseExplainRequest } from '@porthole/contract';
import { wellFormed } from '../messages/record-messages.ts';
import { toQuery } from '../request-query.ts';
import type { Calls } from './calls.ts';

export function createQueryCalls(): Pick<Calls, 'ExplainQuery'> {
  return {
    ExplainQuery: async (message) => {
      const node = parseExplainRequest(toQuery(message));
      return { query: node ? wellFormed(formatQuery(node)) : '', words: wellFormed(explainQuery(node)) };
    },
  };
}
