import { setImmediate as nextTurn } from 'node:timers/promises';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type Family, groupFamilies, groupManyFamilies, groupRotatedFamilies } from './families.ts';

/** Renders a day of 2026 and an index within it; a later day, and a larger index of one day, is newer. */
const STYLES: Record<string, (stem: string, date: string, index: number) => string> = {
  logrotate: (stem, date, index) => `${stem}.log-${date.replaceAll('-', '')}-${1_731_628_800 + index}`,
  lumberjack: (stem, date, index) => `${stem}-${date}T00-21-${String(index).padStart(2, '0')}.600.log`,
  log4j: (stem, date, index) => `${stem}.log.${date}-${index}`,
  logback: (stem, date, index) => `${stem}.${date}.${index}.log`,
  winston: (stem, date, index) => `${stem}-${date}.log${index === 0 ? '' : `.${index}`}`,
};

const stem = fc.stringMatching(/^[a-z]{1,8}$/);
const day = fc
  .integer({ min: 0, max: 364 })
  .map((days) => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10));
const timestamps = fc.uniqueArray(fc.tuple(day, fc.integer({ min: 0, max: 59 })), { selector: String, minLength: 1 });

/** Names composed of meaningful parts in any order: most of them nonsense. */
const part = fc.constantFrom(
  ...[
    'app',
    'node',
    'etcd.h1.root',
    '.log',
    '.json',
    '.gz',
    '.old',
    '.bak',
    '.1',
    '-1',
    '.0',
    '1',
    '-01',
    '.12345',
    '.',
    '-',
  ],
  ...[
    '-20261115',
    '.2026-11-15',
    '-2026-11-14',
    'T00-21-26.600',
    '.20261115-002126.7',
    '.log.INFO',
    '.INFO',
    '-20261345',
  ],
);
const name = fc.oneof(
  { weight: 4, arbitrary: fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);
const someNames = fc.uniqueArray(name, { maxLength: 40 });

describe('whatever the names are', () => {
  test('each is in exactly one family, and only the last of a family can be live, never a compressed one', () => {
    fc.assert(
      fc.property(someNames, (names) => {
        const families = groupFamilies(names);
        expect(families.flatMap(({ files }) => files.map((file) => file.name)).sort()).toEqual(names.toSorted());
        expect(new Set(families.map((family) => family.name)).size).toBe(families.length);
        for (const { files } of families) {
          expect(files.length).toBeGreaterThan(0);
          expect(files.slice(0, -1).filter((file) => file.state === 'live')).toEqual([]);
          expect(files.filter((file) => file.compressed && file.state === 'live')).toEqual([]);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  test('their order does not matter', () => {
    const shuffled = someNames.chain((names) =>
      fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })),
    );
    fc.assert(
      fc.property(shuffled, ([names, others]) => {
        expect(groupFamilies(others)).toEqual(groupFamilies(names));
      }),
      { numRuns: runs(100) },
    );
  });

  test('those of another log change nothing', () => {
    fc.assert(
      fc.property(someNames, someNames, (names, others) => {
        const unrelated = others.map((other) => `unrelated${other}`);
        const isUnrelated = (family: { name: string }) => family.name.startsWith('unrelated');
        const families = groupFamilies([...names, ...unrelated]);
        expect(families.filter((family) => !isUnrelated(family))).toEqual(groupFamilies(names));
        expect(families.filter(isUnrelated)).toEqual(groupFamilies(unrelated));
      }),
      { numRuns: runs(100) },
    );
  });
});

test.each(Object.entries(STYLES))('files named by %s are sorted by date', (_style, render) => {
  fc.assert(
    fc.property(stem, timestamps, fc.func(fc.boolean()), (log, unordered, isCompressed) => {
      const ordered = unordered.toSorted(([a, i], [b, j]) => (a === b ? i - j : a < b ? -1 : 1));
      const files = ordered.map(([date, index]) => {
        const plain = render(log, date, index);
        return isCompressed(plain) ? `${plain}.gz` : plain;
      });
      const family = groupFamilies([`${log}.log`, ...files.toSorted()]);
      expect(family.map(({ name }) => name)).toEqual([`${log}.log`]);
      expect(family[0]?.files.map((file) => file.name)).toEqual([...files, `${log}.log`]);
    }),
  );
});

describe('the work', () => {
  /** Input of the regexes: number of calls and maximum length. */
  function lookedAt(names: readonly string[]): { times: number; maxChars: number } {
    const exec = vi.spyOn(RegExp.prototype, 'exec');
    try {
      groupFamilies(names);
      const { calls } = exec.mock;
      return { times: calls.length, maxChars: calls.reduce((max, [text]) => Math.max(max, text.length), 0) };
    } finally {
      exec.mockRestore();
    }
  }
  const manyNames = (logs: number) =>
    Array.from({ length: logs }, (_, log) => {
      const letters = `log${log}x`;
      return [letters, `${letters}.1`, `${letters}-20261115.log`, `${letters}-7.log.gz`, `${letters}.log`];
    }).flat();

  test('grows linearly with the number of names', () => {
    const few = lookedAt(manyNames(400));
    const many = lookedAt(manyNames(4000));
    expect(many.times).toBe(few.times * 10);
    expect(groupFamilies(manyNames(4000))).toHaveLength(8000);
  });

  test.each([
    ...[
      '1',
      '.1',
      '-1',
      '.',
      '-',
      '2026-11-15',
      '-20261115',
      '.log',
      '.gz',
      '.old',
      'é',
      '\uD800',
      '\0',
      'a.1-2026',
    ].map((text) => text.repeat(100_000)),
    `${'9'.repeat(100_000)}.log`,
    `a${'.0'.repeat(100_000)}.log.gz`,
    `-20261115${'-1'.repeat(100_000)}.log`,
  ])('on a very long name is that on its ending (case %#)', (long) => {
    expect(lookedAt([long]).maxChars).toBeLessThanOrEqual(64);
    expect(groupFamilies([long])[0]?.files.map((file) => file.name)).toEqual([long]);
  });
});

test('the names of a whole directory are grouped in the same way, yielding in between', async () => {
  const names = Array.from({ length: 4000 }, (_, log) => [
    `svc${log}.log`,
    `svc${log}.log.1`,
    `svc${log}-2026-11-15.log.gz`,
    `lone${log}.log`,
    `prog${log}.INFO`,
    `prog${log}.host.user.log.INFO.20261115-002126.${log}`,
  ]).flat();
  let turns = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turns++) await nextTurn();
  })();
  const [all, rotated] = [await groupManyFamilies(names), await groupRotatedFamilies(names)];
  isDone = true;
  await counting;
  expect(all).toEqual(groupFamilies(names));
  const isLone = ({ name, files }: Family) =>
    files.length === 1 && files[0]?.name === name && files[0].state === 'live';
  expect(new Map(rotated.map(({ name, files }) => [name, files]))).toEqual(
    new Map(all.filter((family) => !isLone(family)).map(({ name, files }) => [name, files])),
  );
  expect(turns).toBeGreaterThan(8);
});
