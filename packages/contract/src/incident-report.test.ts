import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Incident, IncidentStep, Standout } from './incident.ts';
import { incidentHtml, incidentMarkdown, incidentText } from './incident-report.ts';

const AT = Date.parse('2026-11-17T03:10:11Z');
const UTC = { offsetMsAt: () => 0 };
const BERLIN = { offsetMsAt: () => 3_600_000 };
const EVIL = '</title><script>alert(1)</script> ![x](http://evil) `"\u001b]0;x\u0007\u202e|';

function step(given: Partial<IncidentStep>): IncidentStep {
  const nothing = { uncertaintyMs: 0, detail: null, changes: [], record: null, shares: [], path: null };
  return { kind: 'first-error', timeMs: AT, delayMs: 0, nodes: ['a'], title: 'something', ...nothing, ...given };
}

const RECORD = { type: 'record', file: 'a.log', offset: 0, bytes: 9, cursor: 'c', timeMs: AT, level: 'ERROR' } as const;

const STANDOUT: Standout = {
  kind: 'pattern',
  score: 90,
  title: 'wal.go:211 new on storage-3',
  detail: 'ERROR: 0 → 240 a minute',
  nodes: ['storage-3'],
  timeMs: AT,
  ...{ event: null, keys: [], pattern: 'wal.go:211', field: null, value: null, shares: [], record: null },
  counts: {
    ...{ during: 1204, duringMs: 300_000, before: 0, beforeMs: 3_600_000, most: 1204, others: 0 },
    ...{ ratioBefore: 6176.1, ratioOthers: 3338.2 },
  },
  paths: ['/api/v1/log/digest?nodes=*&source=wal.go%3A211'],
};

function incident(given: Partial<Incident> = {}): Incident {
  const record = { ...RECORD, node: 'storage-3' };
  return {
    headline: 'New errors on storage-3, 1 min 57 s after its storage.wal.dir changed',
    isUnusual: true,
    ...{ lookedFromMs: AT - 1000, lookedToMs: AT + 3_600_000, fromMs: AT, toMs: AT + 331_000, isOver: true },
    steps: [
      step({
        kind: 'config-changed',
        title: 'storage.wal.dir changed on storage-3',
        changes: [{ key: 'storage.wal.dir', before: '/data/wal', after: null }, { key: 'secret' }],
      }),
      step({
        timeMs: AT + 117_000,
        delayMs: 117_000,
        record: { ...record, message: 'fsync failed\n at wal.go\n at main.go' },
        shares: [
          { field: 'shard', value: '7', count: 97, of: 97 },
          { field: 'dir', value: '/x', count: 3, of: 97 },
        ],
      }),
      step({ kind: 'member-lost', timeMs: AT + 331_000, delayMs: 331_000, uncertaintyMs: 5000, title: 'a is gone' }),
    ],
    standouts: [STANDOUT],
    before: { fromMs: AT - 3_600_000, toMs: AT, records: 7200, errors: 72, warnings: 0, nodes: 5 },
    during: { fromMs: AT, toMs: AT + 60_000, records: 600, errors: 278, warnings: 1, nodes: 5 },
    after: null,
    requests: 22,
    members: [{ id: 'a', outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null }],
    coverage: { askedFromMs: null, askedToMs: null, missing: [], isComplete: true },
    ...given,
  };
}

it('a part of the time of which nothing was read has no numbers', () => {
  const during = { fromMs: AT, toMs: AT + 60_000, records: 0, errors: 0, warnings: 0, nodes: 0 };
  const coverage = (isComplete: boolean) => ({ askedFromMs: null, askedToMs: null, missing: [], isComplete });
  const row = (isComplete: boolean) =>
    incidentMarkdown(incident({ during, coverage: coverage(isComplete) }), UTC).match(
      /errors a minute \| [^|]+ \| ([^|]+) \|/,
    )?.[1];
  expect(row(true)).toBe('0');
  expect(row(false)).toBe('not read');
});

const hostile = () =>
  incident({
    headline: EVIL,
    steps: [
      step({
        title: EVIL,
        detail: EVIL,
        nodes: [EVIL],
        changes: [{ key: EVIL, before: EVIL, after: [EVIL] }],
        record: { ...RECORD, node: EVIL, file: EVIL, cursor: EVIL, source: EVIL, message: EVIL },
        shares: [{ field: EVIL, value: EVIL, count: 1, of: 1 }],
      }),
    ],
    standouts: [{ ...STANDOUT, title: EVIL, detail: EVIL, paths: [EVIL] }],
    coverage: {
      ...{ askedFromMs: null, askedToMs: null, isComplete: false },
      missing: [{ node: EVIL, reason: 'failed', detail: EVIL, asOfMs: null, isExpected: false }],
    },
  });

const style = (columns: number) => ({ columns, bold: String, dim: String, red: String });

describe('as text', () => {
  it('a report has its steps with their delays, what stands out with its numbers, and the coverage', () => {
    const text = incidentText(incident(), BERLIN, style(Infinity));
    expect(text.split('\n').slice(0, 12)).toEqual([
      'Incident · 2026-11-17 04:10:11 – 04:15:42 UTC+01:00 · 5 min 31 s',
      'New errors on storage-3, 1 min 57 s after its storage.wal.dir changed',
      '',
      'In the order it happened',
      '  04:10:11  start',
      '    storage.wal.dir changed on storage-3',
      '      storage.wal.dir: "/data/wal" → (none)',
      '      secret',
      '  04:12:08  +1 min 57 s',
      '    something',
      '      ERROR fsync failed (+2 lines)',
      '      shard=7 in all of the first 97, as elsewhere, dir=/x in 3 of the first 97, as elsewhere',
    ]);
    expect(text).toContain('      up to 5 s earlier\n');
    expect(text).toContain('1204 in 5 min, 0 in 1 h before (G² 6176.1); 1204 on one node, 0 on the others (G² 3338.2)');
    expect(text).toContain('  errors a minute        1.2     278\n');
    expect(text).toContain('1 of 1 nodes responded; 22 requests; nothing in this time range is left out.\n');
  });

  it.each([20, 60, 80])('no line is longer than %d columns, however long the words are', (columns) => {
    const long = hostile();
    long.headline = `${'x'.repeat(500)} ${EVIL.repeat(20)}`;
    // The table of three columns is as wide as it is.
    for (const line of incidentText(long, UTC, style(columns)).split('\n'))
      if (!line.includes('  ') || line.length > 46) expect(line.length).toBeLessThanOrEqual(Math.max(columns, 46));
  });

  it('has no hidden characters', () => {
    expect(incidentText(hostile(), UTC, style(60))).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  });
});

describe('as Markdown', () => {
  it('a report is made of headings, lists and a table', () => {
    const text = incidentMarkdown(incident(), UTC);
    expect(text).toContain('# New errors on storage\\-3, 1 min 57 s after its storage.wal.dir changed\n');
    expect(text).toContain('- **03:12:08** (+1 min 57 s) something\n  - `ERROR fsync failed (+2 lines)`\n');
    expect(text).toContain('| errors a minute | 1.2 | 278 |  |\n');
  });

  it('shows text of logs as it is: no link, no image, no element', () => {
    const text = incidentMarkdown(hostile(), UTC);
    const outside = text.replace(/(`+).*?\1/g, '');
    expect(outside).not.toMatch(/<|[^\\]!\[|[^\\]\]\(/);
    expect(outside.split('\n').filter((line) => line.startsWith('#'))).toHaveLength(5);
  });
});

describe('as a page', () => {
  it('a report needs nothing else, and runs nothing', () => {
    const page = incidentHtml(incident(), UTC);
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|<img|<link|src=|href=|url\(/);
  });

  it('shows text of logs as it is', () => {
    const page = incidentHtml(hostile(), UTC);
    const tags = new Set([...page.matchAll(/<\/?([a-z0-9!]+)/g)].map(([, name]) => name));
    expect(tags).not.toContain('script');
    expect([...page.matchAll(/<title>/g)]).toHaveLength(1);
    expect(page).toContain('&#60;script&#62;');
    expect(page).not.toContain('\u202e');
  });
});

it('without an incident a report says what was looked at', () => {
  const quiet = incident({
    isUnusual: false,
    headline: 'Nothing unusual',
    fromMs: null,
    toMs: null,
    steps: [],
    standouts: [],
  });
  expect(incidentText(quiet, UTC, style(80))).toContain('Looked at · 2026-11-17 03:10:10 – 04:10:11 UTC · 1 h');
  expect(incidentText(quiet, UTC, style(80))).not.toContain('What stands out');
});

it('whatever logs contain, a page has the same elements, and a text no line of its own', () => {
  const tags = (page: string) => page.match(/<[^>]*>/g);
  const plain = hostile();
  const titled = (title: string) => ({ ...plain, headline: title, standouts: [{ ...STANDOUT, title, detail: title }] });
  const usual = tags(incidentHtml(titled('x'), UTC));
  const lines = incidentText(titled('x'), UTC, style(Infinity)).split('\n').length;
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (title) => {
      expect(tags(incidentHtml(titled(title), UTC))).toEqual(usual);
      expect(incidentText(titled(title), UTC, style(Infinity)).split('\n')).toHaveLength(lines);
    }),
  );
});
