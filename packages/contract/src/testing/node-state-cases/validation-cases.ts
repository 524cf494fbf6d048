import type {
  DigestQuery,
  FieldsQuery,
  FollowQuery,
  HistogramQuery,
  Level,
  LogSelection,
  RecordFilter,
  SearchQuery,
  TopQuery,
} from '@porthole/logs/types';
import { expect } from 'vitest';
import type { ErrorCode } from '../../errors/errors.ts';
import type { NodeState } from '../../node-state.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { catchFailure, type Failure, Following, readBytes, search } from './responses.ts';

/** Values are validated once, where requests enter; nothing behind that checks them again. */
const NOT_VALIDATED = 'the local node is called after validation';

const NO_SUCH_NUMBER = 'a message carries whole numbers and known words only: anything else never leaves the caller';

/** Requests of callers with loose types, or of those that do not know the limits. */
function rejectedByValidation(code: ErrorCode, name: string, call: (node: NodeState) => unknown): NodeStateCase {
  // The name contains the query.
  const isUnwritable = /NaN|Infinity|\d\.5|LOUD/.test(name);
  return nodeCase<Failure | { result: unknown }>({
    name: `${name} is refused by validation: ${code}`,
    run: (node) => catchFailure(() => call(node)),
    check: (failure) => expect(failure).toMatchObject({ code }),
    notRun: { local: NOT_VALIDATED, ...(isUnwritable && { grpc: NO_SUCH_NUMBER }) },
  });
}

const FILTERS: readonly (LogSelection & RecordFilter)[] = [
  { regex: 'r'.repeat(2049) },
  { terms: ['t'.repeat(1025)] },
  { excluded: ['ä'.repeat(513)] },
  { source: 's'.repeat(1025) },
  { component: 'c'.repeat(1025) },
  { terms: Array<string>(20).fill('t'), excluded: Array<string>(13).fill('x') },
  { fromMs: 2, toMs: 1 },
  { fromMs: 1, toMs: 1 },
  { fromMs: 9e15 },
  { fromMs: Number.NaN },
  { toMs: Infinity },
  { minLevel: 'LOUD' as Level },
  { src: Array<string>(65).fill('broker.log') },
];

const SEARCHES: readonly Partial<SearchQuery>[] = [
  ...FILTERS,
  { limit: 0 },
  { limit: 10_001 },
  { limit: 1.5 },
  { limit: -1 },
  { limit: Number.NaN },
  { before: 101 },
  { after: 101 },
  { before: -1 },
  { order: 'random' as 'newest' },
  { start: { offset: 0 } },
  { src: ['=broker.log'], start: { offset: -1 } },
  { src: ['=broker.log'], start: { offset: 0.5 } },
  { start: { timeMs: 9e15 } },
];

const HISTOGRAMS: readonly Partial<HistogramQuery>[] = [
  ...FILTERS,
  { buckets: 0 },
  { buckets: 1001 },
  { bucketMs: 0 },
  { bucketMs: -1 },
  { bucketMs: 0.5 },
];

const DIGESTS: readonly Partial<DigestQuery>[] = [
  ...FILTERS,
  { limit: 0 },
  { limit: 1001 },
  { onlyNew: true },
  { newSinceMs: 9e15 },
];

const FIELDS: readonly Partial<FieldsQuery>[] = [{ fromMs: 2, toMs: 1 }, { limit: 0 }, { limit: 1001 }];

const TOPS: readonly Partial<TopQuery>[] = [
  { fromMs: 2, toMs: 1 },
  { by: '' },
  { limit: 0 },
  { limit: 10_001 },
  { buckets: 0 },
  { buckets: 1001 },
  { bucketMs: 0.5 },
];

const FOLLOWS: readonly Partial<FollowQuery>[] = [
  ...FILTERS,
  { start: { back: 10_001 } },
  { start: { back: -1 } },
  { start: { timeMs: 9e15 } },
];

/** Requests that only a remote node refuses. */
export const VALIDATION_CASES: readonly NodeStateCase[] = [
  ...SEARCHES.map((query) =>
    rejectedByValidation('PARAMETER_INVALID', `a search for ${formatQuery(query)}`, (node) => search(node, query)),
  ),
  ...HISTOGRAMS.map((query) =>
    rejectedByValidation('PARAMETER_INVALID', `a histogram of ${formatQuery(query)}`, (node) =>
      node.logHistogram({ buckets: 10, ...query }),
    ),
  ),
  ...DIGESTS.map((query) =>
    rejectedByValidation('PARAMETER_INVALID', `a digest of ${formatQuery(query)}`, (node) =>
      node.logDigest({ limit: 10, ...query }),
    ),
  ),
  ...FIELDS.map((query) =>
    rejectedByValidation('PARAMETER_INVALID', `a list of fields of ${formatQuery(query)}`, (node) =>
      node.logFields({ limit: 10, ...query }),
    ),
  ),
  ...TOPS.map((query) =>
    rejectedByValidation('PARAMETER_INVALID', `a count by value of ${formatQuery(query)}`, (node) =>
      node.logTop({ by: 'level', limit: 10, ...query }),
    ),
  ),
  ...FOLLOWS.map((query) =>
    rejectedByValidation('PARAMETER_INVALID', `a follow of ${formatQuery(query)}`, (node) =>
      Following.begin(node, { start: 'end', ...query }),
    ),
  ),
  ...[0, -1, 1.5, Number.NaN].map((sizeBytes) =>
    rejectedByValidation('SIZE_INVALID', `a view of ${sizeBytes} bytes`, async (node) =>
      readBytes(await node.viewLog({ file: 'text.log', sizeBytes })),
    ),
  ),
];

function formatQuery(query: object): string {
  const text = JSON.stringify(query, (_, value: unknown) => (typeof value === 'number' ? `${value}` : value));
  return text.length > 70 ? `${text.slice(0, 70)}...` : text;
}
