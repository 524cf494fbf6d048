import { expect, it } from 'vitest';
import { type ArchiveStatus, checkShipping, shippingMetrics, shippingState } from './archive-health.ts';

const STATUS: ArchiveStatus = {
  problem: null,
  progressProblem: undefined,
  ...{ shippedRecords: 5, shippedBytes: 500, batches: 1, retries: 0, lostBytes: 0, losses: 0 },
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
  expect(shippingMetrics(status)[0]?.samples[0]?.value).toBe(1);
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
