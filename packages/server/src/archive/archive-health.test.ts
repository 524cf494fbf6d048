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
  const status = { ...STATUS, progressProblem: { code: 'ARCHIVE_SCHEMA', detail: 'no table' } };
  expect(checkShipping(status, { maxLagMs: 1000 })).toEqual({
    ok: false,
    detail: expect.stringMatching(/^progress cannot be written, .*: ARCHIVE_SCHEMA: no table; 0 s and 0 bytes behind$/),
  });
  expect(shippingState(status)?.problem).toMatch(/^progress cannot be written/);
  expect(shippingMetrics(status)[0]?.samples[0]?.value).toBe(1);
});

it('a problem of shipping itself comes first', () => {
  const problem = { code: 'ARCHIVE_UNREACHABLE', detail: 'refused', sinceMs: 1 };
  const status = { ...STATUS, problem, progressProblem: { code: 'ARCHIVE_UNREACHABLE', detail: 'refused' } };
  expect(checkShipping(status, { maxLagMs: 1000 }).detail).toBe('ARCHIVE_UNREACHABLE: refused; 0 s and 0 bytes behind');
});
