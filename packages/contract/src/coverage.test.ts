import { describe, expect, it } from 'vitest';
import {
  absenceText,
  coverageOf,
  failures,
  gapsText,
  joinCoverage,
  missingText,
  respondedText,
  withCoverage,
} from './coverage.ts';
import type { MemberReport } from './member.ts';

const OK: MemberReport = { id: 'a', outcome: 'ok', detail: null, elapsedMs: 1, count: 0, asOfMs: null };
const PARTIAL: MemberReport = { ...OK, id: 'b', isPartial: true, detail: 'x.log could not be read: EACCES' };
const DEAD: MemberReport = { ...OK, id: 'c', outcome: 'refused', detail: 'ECONNREFUSED', asOfMs: 0 };
const LEFT: MemberReport = { ...OK, id: 'd', outcome: 'left', state: 'left', sinceMs: 1000, asOfMs: 900 };

const reasons = (answer: Parameters<typeof coverageOf>[0], asked = {}) =>
  coverageOf(answer, asked).missing.map(({ node, reason }) => `${node ?? '-'} ${reason}`);

describe('a response', () => {
  it('is complete if every member has returned everything', () => {
    const asked = { fromMs: 1, toMs: 2 };
    expect(coverageOf({ reason: 'exhausted', members: [OK] }, asked)).toEqual({
      askedFromMs: 1,
      askedToMs: 2,
      missing: [],
      isComplete: true,
    });
  });

  it('lacks what a member did not return, or only in part', () => {
    expect(reasons({ members: [OK, PARTIAL, DEAD] })).toEqual(['b part', 'c refused']);
    expect(reasons({ members: [OK], reason: 'time budget' })).toEqual(['- time budget']);
    expect(reasons({ limits: 'the newest 4 KiB of 1 MiB' })).toEqual(['- part']);
  });

  it('lacks files that could not be read, which a member that says so names once', () => {
    const problem = { file: 'x.log', code: 'EACCES', detail: 'permission denied' };
    expect(reasons({ problems: [problem] })).toEqual(['- unreadable']);
    expect(reasons({ members: [OK], problems: [{ ...problem, node: 'a' }] })).toEqual(['a unreadable']);
    expect(reasons({ members: [PARTIAL], problems: [{ ...problem, node: 'b' }] })).toEqual(['b part']);
    expect(reasons({ problems: [{ ...problem, code: 'LEFT_OUT' }] })).toEqual([]);
  });

  it('lacks what only the archive has, and members that an old list does not have', () => {
    const archive = { records: 0, beforeMs: null, problem: 'timed out' };
    const membership = { kind: 'etcd', state: 'stale', detail: null, asOfMs: 5 } as const;
    expect(reasons({ members: [OK], archive, membership })).toEqual(['- registry', '- archive']);
  });

  it('of a node alone lacks what is only in the archive, which a cluster reads itself', () => {
    const problems = [{ node: 'a', file: 'x.log', code: 'ONLY_ARCHIVED', detail: 'its files begin later' }];
    expect(reasons({ members: [OK], problems }, { isAlone: true })).toEqual(['a unreadable']);
    expect(reasons({ members: [OK], problems })).toEqual([]);
  });

  it('lacks records of a member that has left only from before it left, and nobody has to look at it', () => {
    expect(reasons({ members: [LEFT] }, { fromMs: 1001 })).toEqual([]);
    const coverage = coverageOf({ members: [LEFT] }, { fromMs: 500 });
    expect([coverage.isComplete, failures(coverage)]).toEqual([false, []]);
  });

  it('keeps what it knew of the registry when another part is added', () => {
    const membership = { kind: 'etcd', state: 'stale', detail: 'gone', asOfMs: 5 } as const;
    const counted = withCoverage({ members: [OK] }, {}, membership);
    const archived = withCoverage({ ...counted, archive: { records: 0, beforeMs: null, problem: 'down' } }, {});
    expect(archived.coverage.missing.map(({ reason }) => reason)).toEqual(['registry', 'archive']);
  });
});

describe('pages as one answer', () => {
  it('lack what the last one lacks, and what any lacked of a member', () => {
    const first = coverageOf({ reason: 'limit', members: [DEAD] }, { fromMs: 1, toMs: 9 });
    const last = coverageOf({ reason: 'exhausted', members: [OK] }, { fromMs: 1, toMs: 9 });
    expect(joinCoverage([first, last]).missing.map(({ reason }) => reason)).toEqual(['refused']);
    expect(joinCoverage([last, first]).missing.map(({ reason }) => reason)).toEqual(['limit', 'refused'].reverse());
    expect(joinCoverage([last, last])).toMatchObject({ isComplete: true, askedFromMs: 1, askedToMs: 9 });
    expect(joinCoverage([])).toMatchObject({ isComplete: true });
  });
});

describe('its words', () => {
  it('say why, and as of when something else is shown', () => {
    const [part] = coverageOf({ members: [DEAD] }).missing;
    expect(part && missingText(part)).toBe('c: no connection: ECONNREFUSED; shown as of 1970-01-01T00:00:00.000Z');
    const said = { ...DEAD, detail: 'no connection (http://c): ECONNREFUSED', asOfMs: null };
    expect(gapsText(coverageOf({ members: [said] }))).toBe('c: no connection (http://c): ECONNREFUSED');
    expect(gapsText(coverageOf({ members: [PARTIAL] }))).toBe('b: x.log could not be read: EACCES');
  });

  it('state an absence only of a complete answer', () => {
    expect(absenceText('no match', coverageOf({ members: [OK] }))).toBe('no match');
    expect(absenceText('no match', coverageOf({ members: [OK, DEAD] }))).toBe('no match in what was read');
  });

  it('count members that responded, also those that did in part', () => {
    expect(respondedText([OK, PARTIAL, DEAD, LEFT])).toBe('2 of 3 nodes responded, 1 of them in part');
    expect(respondedText([PARTIAL])).toBe('1 of 1 nodes responded, all of them in part');
    expect(respondedText([OK, DEAD])).toBe('1 of 2 nodes responded');
    const late: MemberReport = { ...OK, outcome: 'timeout', count: 3 };
    expect(respondedText([OK, late, { ...late, count: 0 }, { ...late, asOfMs: 1 }])).toBe(
      '2 of 4 nodes responded, 1 of them in part',
    );
  });
});
