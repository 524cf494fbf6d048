import {
  type ClusterRecord,
  type Member,
  type MemberReport,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import { createZone, LogDir } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import type { FoundRecord, SearchItem, SearchQuery } from '@porthole/logs/types';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RecordedNode } from '../../recorder/recorded-node.ts';
import { Recording } from '../../recorder/recording.ts';
import type { RecordedMember } from '../../recorder/recordings.ts';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { LogDirNode, logLines } from '../../testing/log-dir-node.ts';
import { searchCluster } from './cluster-search.ts';
import { CursorKeeper } from './cursor-keeper.ts';
import type { ClusterSearch } from './search-members.ts';

const DAY_MS = Date.parse('2026-11-10T00:00:00Z');
const MAX_PAGES = 300;

/** A member that refuses connections while it is down. */
class MortalNode extends LogDirNode {
  isDown = false;

  override async *respond(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<SearchItem[]> {
    if (this.isDown) {
      const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      throw new PortholeError('UNREACHABLE', 'connect ECONNREFUSED', { cause });
    }
    yield* super.respond(query, options);
  }
}

/** What was recorded of a node: the records of each log, without some of its oldest and newest. */
async function record(node: MortalNode, member: Member, { skip, length, maxBytes }: RecordingCase) {
  const records: FoundRecord[] = [];
  const query = { order: 'oldest', limit: 1000, before: 0, after: 0, raw: true } as const;
  for await (const items of node.respond(query))
    for (const item of items) if (item.type === 'record') records.push(item);
  const recording = await Recording.open(tempDir(), { maxBytes, maxMs: 3_600_000 });
  const end = records.length - skip;
  for (const each of records.slice(Math.max(0, end - length), Math.max(0, end))) await recording.append([each]);
  recording.facts = { ...recording.facts, zone: 'UTC', sinceMs: DAY_MS, asOfMs: DAY_MS };
  const logs = new LogDir(recording.logDir, { zone: createZone('UTC'), threads: SHARED_THREADS });
  onTestFinished(() => logs.close());
  const state = new RecordedNode({ id: 'b', recording, profile: undefined, logs, label: 'recorded' });
  const facts = { departed: null, clock: null, asOfMs: DAY_MS, missingMs: 1, recordedBy: 'a', lastRecordMs: null };
  return { ...facts, member, label: 'recorded by a', state } satisfies RecordedMember;
}

/** What is missing at both ends of a recording, and its limit. */
interface RecordingCase {
  skip: number;
  length: number;
  maxBytes: number;
}

/** Times in steps of some milliseconds, some of them the same. */
function timesBy(min: number) {
  return fc.array(fc.integer({ min, max: 8 }), { minLength: 1, maxLength: 60 }).map((steps) => {
    let timeMs = DAY_MS;
    return steps.map((step) => {
      timeMs += 10 * step;
      return timeMs;
    });
  });
}

function pagingOf({ min, maxBytes }: { min: number; maxBytes: number }) {
  const times = timesBy(min);
  return fc.record({
    order: fc.constantFrom('newest' as const, 'oldest' as const),
    limit: fc.integer({ min: 3, max: 25 }),
    logs: fc.record({ a: times, broker: times, access: times }),
    recording: fc.record({
      skip: fc.nat(10),
      length: fc.integer({ min: 0, max: 40 }),
      maxBytes: fc.constant(maxBytes),
    }),
    /** By it, the records of a log are a part only if they are in order. */
    startMs:
      min < 0
        ? fc.constant(undefined)
        : fc.option(
            fc.nat(60).map((step) => DAY_MS + 10 * step),
            { nil: undefined },
          ),
    /** Whether it is down, for each page in turn. */
    down: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
  });
}

/** Files of a recording are read by their first times: those of a few records each are only in order if the log is. */
const paging = fc.oneof(pagingOf({ min: 0, maxBytes: 4096 }), pagingOf({ min: -2, maxBytes: 2 ** 20 }));

type PagingCase = typeof paging extends fc.Arbitrary<infer T> ? T : never;

interface Pages {
  records: ClusterRecord[];
  /** Of the member, of each page. */
  reports: MemberReport[];
}

async function allPages(
  { order, limit, logs, recording, startMs, down }: PagingCase,
  { isLost }: { isLost: boolean },
): Promise<Pages> {
  const [a, b] = [new LogDirNode(), new MortalNode()];
  a.write('a.log', logLines('a', logs.a));
  b.write('broker.log', logLines('broker', logs.broker));
  b.write('access.log', logLines('access', logs.access));
  const limits = { firstBatchMs: 60_000, memberTimeoutMs: 60_000 };
  const deps = fakeCluster({ a, b }, { limits });
  const recorded = await record(b, deps.peers.get('b').member, recording);
  const directory = {
    ...deps.directory,
    has: (id: string) => id === 'b',
    find: async (id: string) => (id === 'b' ? recorded : undefined),
  };
  const reports: MemberReport[] = [];
  let cursors = new CursorKeeper('here', { containsUpTo: isLost ? 0 : 2000 });
  const query: ClusterSearch = { order, limit, before: 0, after: 0 };
  const records: ClusterRecord[] = [];
  let asked: ClusterSearch = startMs === undefined ? query : { ...query, start: { timeMs: startMs } };
  for (let page = 0; ; page++) {
    b.isDown = down[page % down.length] ?? false;
    const { records: found, end } = await collectResponse(searchCluster({ ...deps, directory, cursors }, asked));
    records.push(...found);
    reports.push(...end.members.filter(({ id }) => id === 'b'));
    if (end.cursor === null) return { records, reports };
    expect(page).toBeLessThan(MAX_PAGES);
    if (isLost) cursors = new CursorKeeper('here', { containsUpTo: 0 });
    asked = { ...query, start: { cursor: end.cursor } };
  }
}

/** The records of a log that were found, each once, and those that were asked for. */
function foundOf(records: readonly ClusterRecord[], log: string): string[] {
  return [...new Set(records.flatMap(({ message }) => (message.startsWith(`${log}-`) ? message : [])))].sort();
}

function askedOf({ order, logs, startMs }: PagingCase, log: keyof PagingCase['logs']): string[] {
  const isAsked = (timeMs: number) =>
    startMs === undefined || (order === 'newest' ? timeMs < startMs : timeMs >= startMs);
  return logs[log].flatMap((timeMs, index) => (isAsked(timeMs) ? `${log}-${index}` : [])).sort();
}

describe('a member of which a recording is searched on some pages', () => {
  it.each([false, true])(
    'has every record once if it has come back, and says meanwhile that some may be missing (positions lost: %s)',
    async (isLost) => {
      await fc.assert(
        fc.asyncProperty(paging, async (given) => {
          const { records, reports } = await allPages(given, { isLost });
          expect(foundOf(records, 'a')).toEqual(askedOf(given, 'a'));
          const others = reports.filter(({ outcome }) => outcome !== 'ok');
          // If positions are lost, only time tells what is missing, and the page on which it was said so.
          if (others.length === 0 || (!isLost && reports.at(-1)?.outcome === 'ok'))
            for (const log of ['broker', 'access'] as const) expect(foundOf(records, log)).toEqual(askedOf(given, log));
          for (const report of others)
            expect(report).toMatchObject({ outcome: 'refused', isPartial: true, recordedBy: 'a' });
          if (!isLost) expect(new Set(records.map(({ message }) => message)).size).toBe(records.length);
        }),
        { numRuns: runs(13) },
      );
    },
  );
});
