import { describe, expect, it } from 'vitest';
import { readDigest, readExchange, readSample } from './read-exchange.ts';
import { fakeSample } from './testing/sample.ts';

const NOTHING = { beats: [], entries: [], failing: [] };
const BEAT = ['a', 1, 2, 3, 4, 5, 0];

describe('what a member sends', () => {
  it('is read row by row', () => {
    const entry = { id: 'a', run: 1, seq: 2, ageMs: 3, sample: fakeSample() };
    const value = { beats: [...BEAT, 'b', 1, 1, 0, 0, 0, 1], entries: [entry], failing: ['c', 7], more: 1 };
    expect(readExchange(value)).toEqual({
      beats: [
        { id: 'a', run: 1, beat: 2, ageMs: 3, slackMs: 4, clockMs: 5, isSampled: false },
        { id: 'b', run: 1, beat: 1, ageMs: 0, slackMs: 0, clockMs: 0, isSampled: true },
      ],
      entries: [entry],
      failing: [{ id: 'c', ageMs: 7 }],
    });
    expect(readDigest({ have: ['a', 1, 2, -1, 'b', 1] })).toEqual(new Map([['a', { run: 1, beat: 2, seq: -1 }]]));
  });

  it.each<[string, unknown[]]>([
    ['an age in the future', ['a', 1, 2, -3, 4, 5, 0]],
    ['an age of centuries', ['a', 1, 2, 1e14, 4, 5, 0]],
    ['a run that is no number', ['a', '1', 2, 3, 4, 5, 0]],
    ['a count beyond all numbers', ['a', 1, 2 ** 60, 3, 4, 5, 0]],
    ['half a count', ['a', 1, 2.5, 3, 4, 5, 0]],
    ['nothing', ['a', 1, null, 3, 4, 5, 0]],
    ['a name with a slash', ['a/b', 1, 2, 3, 4, 5, 0]],
    ['a name that is too long', ['x'.repeat(129), 1, 2, 3, 4, 5, 0]],
    ['a certainty from the future', ['a', 1, 2, 0, 1e9, 5, 0]],
    ['a clock beyond all times', ['a', 1, 2, 3, 4, 1e17, 0]],
  ])('with %s is left out', (_what, row) => {
    expect(readExchange({ ...NOTHING, beats: [...row, ...BEAT] }).beats).toHaveLength(1);
  });

  it('of a sample has at most a kilobyte, and nothing that a terminal acts on', () => {
    const problem = { check: '\u001b[31m'.repeat(1000), detail: 'y\n'.repeat(10_000) };
    const sample = readSample(
      fakeSample({
        node: { ...fakeSample().node, hostName: 'h'.repeat(128), hostIp: 'i'.repeat(128), version: 'v'.repeat(128) },
        timeZone: 'z'.repeat(10_000),
        problems: Array(500).fill(problem),
        ...{ unknown: 'x'.repeat(10_000) },
      }),
    );
    expect(JSON.stringify(sample).length).toBeLessThan(1300);
    expect(JSON.stringify(sample)).not.toMatch(/\\u001b|\\n/);
    expect(readSample(fakeSample({ node: { ...fakeSample().node, hostName: 'h'.repeat(129) } }))).toBeUndefined();
    expect(readSample({ node: fakeSample().node, role: '<b>', recentErrors: -1, problems: 'no' })).toEqual({
      node: fakeSample().node,
      ...{
        role: null,
        labels: {},
        timeZone: null,
        uptimeMs: null,
        lastRecordAgeMs: null,
        recentErrors: null,
        problems: [],
      },
    });
  });

  it.each([
    [
      { lagMs: 3000, lagBytes: 12, lostBytes: 0, problem: 'x'.repeat(5000) },
      { lagMs: 3000, lagBytes: 12, lostBytes: 0 },
    ],
    [{ lagMs: 3000, lagBytes: 12 }, undefined],
    [{ lagMs: -1, lagBytes: 12, lostBytes: 0 }, undefined],
    [{ lagMs: 1e300, lagBytes: '1', lostBytes: null }, undefined],
    ['3 s', undefined],
    [undefined, undefined],
  ])('a member that says %j of its lag', (archive, expected) => {
    const sample = readSample({ ...fakeSample(), archive });
    expect(sample).toEqual({ ...fakeSample(), ...(expected && { archive: expected }) });
  });

  it.each([null, 1, [], {}, { have: 'x' }, { have: Array(80_001).fill(0) }])('is no digest: %j', (value) => {
    expect(() => readDigest(value)).toThrow(expect.objectContaining({ code: 'PARAMETER_INVALID' }));
  });
});
