import { isDeepStrictEqual } from 'node:util';
import { familySource, fileSource } from '@porthole/contract';
import { catchFailure, maskTimings, search } from '@porthole/contract/testing';
import type { FoundRecord, SearchQuery, StartPoint } from '@porthole/logs';
import { type FilterSpec, filterSpec, LogWriter, logSpec, writeFamilies } from '@porthole/logs/testing';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseFixture, openFixture } from './testing/case-world.ts';
import { IMPLEMENTATIONS, type Implementation } from './testing/implementations.ts';

/** Directories of logs, and questions about each. */
const DIRECTORIES = 1;
const QUERIES = 12;

let world: CaseFixture;
let connected: Awaited<ReturnType<Implementation['connect']>>[];

beforeAll(async () => {
  world = await openFixture({});
  connected = await Promise.all(IMPLEMENTATIONS.map(({ connect }) => connect(world.running)));
});

afterAll(async () => {
  for (const { close } of connected) await close();
  await world.close();
});

/** A question whose times and positions are shares of what is in the logs. */
interface QuerySpec {
  filter: FilterSpec;
  selection: { kind: 'all' | 'family' | 'file'; at: number };
  start: { kind: 'none' | 'offset' | 'time' | 'cursor' | 'record'; at: number };
  until: number | undefined;
  rest: Pick<SearchQuery, 'order' | 'limit' | 'before' | 'after' | 'raw'>;
}

const share = fc.nat(1_000_000);
const order = fc.constantFrom('newest' as const, 'oldest' as const);
const around = fc.constantFrom(0, 1, 3);

const question: fc.Arbitrary<QuerySpec> = fc.record({
  filter: fc.oneof(fc.constant({}), filterSpec),
  selection: fc.record({ kind: fc.constantFrom('all', 'family', 'file'), at: share }),
  start: fc.record({ kind: fc.constantFrom('none', 'none', 'offset', 'time', 'cursor', 'record'), at: share }),
  until: fc.option(share, { nil: undefined, freq: 4 }),
  rest: fc.oneof(
    fc.record({ order, limit: fc.constantFrom(1, 7, 30), before: around, after: around, raw: fc.boolean() }),
    fc.record({ order, limit: fc.constantFrom(200, 5000), before: fc.constant(0), after: fc.constant(0) }),
  ),
});

describe('every NodeState', () => {
  it('answers any search of any logs alike', async () => {
    const writer = new LogWriter();
    await fc.assert(
      fc.asyncProperty(
        fc.array(logSpec, { minLength: 1, maxLength: 3 }),
        fc.array(question, { minLength: QUERIES, maxLength: QUERIES }),
        async (specs, questions) => {
          const families = specs.map((spec, index) => writer.family(`log ${index} ü+%`, spec));
          writeFamilies(world.logDir, families);
          const { records } = await search(world.running.state, { order: 'oldest' });
          for (const spec of questions) await expectAlike(toQuery(spec, records));
        },
      ),
      // The query that fails is shown as it is: making its logs smaller would take minutes.
      { numRuns: runs(DIRECTORIES), endOnFailure: true },
    );
  });
});

/** A valid request. Its cursors mostly point into the logs it selects: others are refused. */
function toQuery({ filter, selection, start, until, rest }: QuerySpec, all: readonly FoundRecord[]): SearchQuery {
  const chosen = all[selection.at % Math.max(1, all.length)]?.file ?? '';
  const records = selection.at % 8 === 0 ? all : all.filter(({ file }) => isSelected(file, chosen, selection.kind));
  const at = (share: number) => records[share % Math.max(1, records.length)];
  // Queries are chosen among fields, and may be some that have no text: they are tested with the engine.
  const { from, to, query: _query, ...conditions } = filter;
  const [fromMs, toMs] = [from, to].map((share) => share && timeAt(records, share));
  const last = until === undefined ? undefined : at(until);
  return {
    ...rest,
    ...conditions,
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && toMs > (fromMs ?? -Infinity) && { toMs }),
    ...(chosen !== '' && selection.kind === 'file' && { src: [fileSource(chosen)] }),
    ...(chosen !== '' && selection.kind === 'family' && { src: [familySource(familyName(chosen))] }),
    ...toStart(start, at(start.at), selection.kind),
    ...(last && { until: last.cursor }),
  };
}

function isSelected(file: string, chosen: string, kind: QuerySpec['selection']['kind']): boolean {
  return kind === 'all' || (kind === 'file' ? file === chosen : familyName(file) === familyName(chosen));
}

function timeAt(records: readonly FoundRecord[], share: number): number | undefined {
  return records[Math.floor(((records.length - 1) * Math.min(1000, Math.max(0, share))) / 1000)]?.timeMs;
}

function toStart(
  { kind, at }: QuerySpec['start'],
  record: FoundRecord | undefined,
  selection: 'all' | 'family' | 'file',
): { start?: StartPoint } {
  if (!record || kind === 'none') return {};
  if (kind === 'offset') return selection === 'file' ? { start: { offset: record.offset + (at % 3) } } : {};
  if (kind === 'time') return record.timeMs === undefined ? {} : { start: { timeMs: record.timeMs + (at % 3) - 1 } };
  return { start: kind === 'cursor' ? { cursor: record.cursor } : { record: record.cursor } };
}

/** The names the writer of random logs gives: `stem.log`, `stem.log.1.gz`, `stem-2026-01-10T00-00-00.000.log`. */
function familyName(file: string): string {
  return `${file.split(/\.log|-2026/, 1)[0]}.log`;
}

/**
 * The range that a page of a compressed file covers is known only while an offset index of that file is in memory: a
 * response may not know it although another one did.
 */
function withoutUnknownCoverage(response: unknown, model: unknown): unknown {
  const [end, expected] = [response, model].map((given) => (given as Partial<Searched> | undefined)?.result?.end);
  if (end && expected && (isUnknown(end) || isUnknown(expected))) {
    end.coveredFromMs = expected.coveredFromMs;
    end.coveredToMs = expected.coveredToMs;
  }
  return response;
}

function isUnknown({ coveredFromMs, coveredToMs }: Searched['result']['end']): boolean {
  return coveredFromMs === null && coveredToMs === null;
}

interface Searched {
  result: { end: { coveredFromMs: unknown; coveredToMs: unknown } };
}

async function expectAlike(query: SearchQuery): Promise<void> {
  let model: unknown;
  // What a search learns about the files spares the next one work, and its closing record says so: all find the same.
  await catchFailure(() => search(world.running.state, query));
  // One after the other, for the same reason.
  for (const [index, { node }] of connected.entries()) {
    const answer = withoutUnknownCoverage(maskTimings(await catchFailure(() => search(node, query))), model);
    const by = IMPLEMENTATIONS[index]?.name;
    model ??= answer;
    // Much quicker than the comparison that can also say what differs.
    if (!isDeepStrictEqual(answer, model)) expect({ by, query, answer }).toStrictEqual({ by, query, answer: model });
  }
}
