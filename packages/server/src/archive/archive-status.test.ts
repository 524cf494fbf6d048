import { expect, it } from 'vitest';
import { type ArchiveStatus, checkShipping, onlyArchived, shippingMetrics, shippingState } from './archive-status.ts';

const STATUS: ArchiveStatus = {
  problem: null,
  progressProblem: undefined,
  ...{ shippedRecords: 5, shippedBytes: 500, batches: 1, retries: 0, refusedRecords: 0, lostBytes: 0, losses: 0 },
  logs: [],
};

it('shipping without a problem is ready', () => {
  expect(checkShipping(STATUS, { maxLagMs: 1000 })).toEqual({ ok: true, detail: '0 s and 0 bytes behind' });
});

it('progress that cannot be written is a failing check, although records are shipped', () => {
  const status = { ...STATUS, progressProblem: { code: 'ARCHIVE_SCHEMA', detail: 'no table', sinceMs: 0 } };
  expect(checkShipping(status, { maxLagMs: 1000 })).toEqual({
    ok: false,
    detail: expect.stringMatching(
      /^progress cannot be written, .*: ARCHIVE_SCHEMA: no table \(since 1970-01-01T00:00:00.000Z\); 0 s and 0 bytes behind$/,
    ),
  });
  expect(shippingState(status)?.problem).toMatch(/^progress cannot be written/);
  expect(shippingMetrics({ archive: status })[0]?.samples[0]?.value).toBe(1);
});

it('a problem of shipping itself comes first', () => {
  const problem = { code: 'ARCHIVE_UNREACHABLE', detail: 'refused', sinceMs: 1 };
  const status = { ...STATUS, problem, progressProblem: problem };
  expect(checkShipping(status, { maxLagMs: 1000 }).detail).toBe(
    'ARCHIVE_UNREACHABLE: refused (since 1970-01-01T00:00:00.001Z); 0 s and 0 bytes behind',
  );
});

it('an archive that cannot be read is a failing check, also of a node that ships nothing', () => {
  const unread = 'the archive cannot be read';
  expect(checkShipping(STATUS, { maxLagMs: 1000, unread })).toEqual({
    ok: false,
    detail: 'the archive cannot be read; 0 s and 0 bytes behind',
  });
  expect(checkShipping(undefined, { maxLagMs: 1000, unread })).toEqual({ ok: false, detail: unread });
  expect(checkShipping(undefined, { maxLagMs: 1000 })).toMatchObject({ ok: true });
});

const DISK_MS = Date.UTC(2026, 10, 1);
const LOG = { log: 'app.log', gone: { count: 2, toMs: DISK_MS - 10 }, losses: 0, diskFromMs: DISK_MS };
const KEPT = { log: 'new.log', gone: { count: 0, toMs: 0 }, losses: 0, diskFromMs: DISK_MS };

const filesOf = (...args: Parameters<typeof onlyArchived>) => onlyArchived(...args).map(({ problem }) => problem.file);

it('a range that begins before what was deleted is not that of the files', () => {
  expect(onlyArchived([LOG, KEPT], { fromMs: DISK_MS - 1000 })).toEqual([
    {
      problem: {
        file: 'app.log',
        code: 'ONLY_ARCHIVED',
        detail:
          'its files begin at 2026-11-01T00:00:00.000Z; older records are in the archive: ask /api/v1/log/search?nodes=* (program: --all)',
      },
      toMs: DISK_MS,
    },
  ]);
});

it.each([
  ['a later range', { fromMs: DISK_MS - 9 }],
  ['no range: files are what was asked for', {}],
  ['another log', { fromMs: 0, src: ['new.log'] }],
  ['one file', { fromMs: 0, src: ['=app.log'] }],
])('nothing is missing of %s', (_title, selection) => {
  expect(filesOf([LOG, KEPT], selection)).toEqual([]);
});

it('what was lost before it was shipped is missing, too, and so is a log that is no longer on disk', () => {
  const lost = { ...KEPT, losses: 1 };
  expect(filesOf([lost], { fromMs: DISK_MS - 1 })).toEqual(['new.log']);
  expect(filesOf([lost], { fromMs: DISK_MS })).toEqual([]);
  const gone = { ...LOG, diskFromMs: null };
  expect(onlyArchived([gone], { fromMs: 0 })[0]?.problem.detail).toMatch(/^it is no longer on disk; older records/);
});
