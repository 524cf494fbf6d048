import type { FieldOperator, LogSelection, QueryNode, RecordFilter } from '../types.ts';

/** Files whose names begin alike, and records that every condition distinguishes. */
export const FILTERED_FILES: Readonly<Record<string, string>> = {
  'broker.log': [
    '2026-11-15 10:00:03.000\tINFO\tquery/leaf.go:61\t[Query] [Leaf]: new Timeout of client\t{"took":3.50}\n',
    '2026-11-15 10:00:04.000\tERROR\tquery/myleaf.go:7\t[Query]: failed\ngoroutine 1 [running]\n',
  ].join(''),
  'broker.log.1': '2026-11-15 10:00:01.000\tWARN\tkv/job.go:9\t[KV]: rotated ÄRGER\n',
  'broker-access.log': '2026-11-15 10:00:02.000\tINFO\ta/b.go:1\t[HTTP]: access of client\n',
  'broker2.log': '2026-11-15 10:00:05.000\tDEBUG\ta/b.go:2\t[HTTP]: second broker\n',
  'brokers.log': '2026-11-15 10:00:06.000\tFATAL\ta/b.go:3\t[X]: other\n',
};

const BASE_MS = Date.UTC(2026, 10, 15, 10);

const EXISTS = { kind: 'exists', field: 'context.took' } as const;

const field = (name: string, operator: FieldOperator, value: string): QueryNode => {
  return { kind: 'field', field: name, operator, value };
};

/** Filters, and the seconds of the records that match. All readers of records must agree. */
export const FILTER_CASES: readonly [LogSelection & RecordFilter, number[]][] = [
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ src: ['broker.log'] }, [1, 3, 4]],
  [{ src: ['broker-access.log'] }, [2]],
  [{ src: ['brokers.log'] }, [6]],
  [{ src: ['=broker.log'] }, [3, 4]],
  [{ src: ['=broker.log.1'] }, [1]],
  [{ fromMs: BASE_MS + 2000, toMs: BASE_MS + 4000 }, [2, 3]],
  [{ minLevel: 'WARN' }, [1, 4, 6]],
  [{ minLevel: 'TRACE' }, [1, 2, 3, 4, 5, 6]],
  [{ terms: ['CLIENT'] }, [2, 3]],
  [{ terms: ['CLIENT'], caseSensitive: true }, []],
  [{ terms: ['client', 'timeout'] }, [3]],
  [{ terms: ['ärger'] }, [1]],
  [{ terms: ['3.50'] }, [3]],
  [{ terms: ['"took":3.5}'] }, []],
  [{ terms: ['\tINFO\t'] }, [2, 3]],
  [{ terms: ['running'] }, [4]],
  [{ excluded: ['client'] }, [1, 4, 5, 6]],
  [{ regex: '^goroutine \\d' }, [4]],
  [{ regex: 'timeout.*client' }, [3]],
  [{ regex: 'timeout.*client', caseSensitive: true }, []],
  [{ regex: 'client$' }, [2]],
  [{ source: 'leaf.go' }, [3]],
  [{ source: 'leaf.go:61' }, [3]],
  [{ source: 'b.go' }, [2, 5, 6]],
  [{ component: 'query' }, [3, 4]],
  [{ component: 'leaf' }, [3]],
  [{ src: ['broker.log'], minLevel: 'ERROR', excluded: ['client'] }, [4]],
  [{ query: field('took', '=', '3.5') }, [3]],
  [{ query: field('took', '>', '3.4') }, [3]],
  [{ query: field('took', ':', '3.5') }, []],
  [{ query: field('level', '=', 'info') }, [2, 3]],
  [{ query: field('source', ':', 'b.go'), minLevel: 'FATAL' }, [6]],
  [{ query: field('component', '!=', 'http') }, [1, 3, 4, 6]],
  [{ query: { kind: 'fieldRegex', field: 'message', pattern: '^(new|second)' } }, [3, 5]],
  [{ query: { kind: 'fieldRegex', field: 'message', pattern: '^New' }, caseSensitive: true }, []],
  [{ query: { kind: 'regex', pattern: 'CLIENT' }, regex: 'timeout' }, [3]],
  [
    { query: { kind: 'not', node: { kind: 'or', nodes: [{ kind: 'regex', pattern: 'client' }, EXISTS] } } },
    [1, 4, 5, 6],
  ],
  [
    { query: { kind: 'or', nodes: [EXISTS, { kind: 'text', text: 'ärger' }, field('level', '>=', 'fatal')] } },
    [1, 3, 6],
  ],
];

/** The second of a record's time, by which the cases identify it. */
export function recordSecond({ timeMs = Number.NaN }: { timeMs?: number }): number {
  return (timeMs - BASE_MS) / 1000;
}
