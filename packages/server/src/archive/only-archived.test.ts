import { expect, it } from 'vitest';
import { onlyArchived } from './only-archived.ts';

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
          'its files begin at 2026-11-01T00:00:00.000Z; older records are in the archive: ask /api/v1/cluster/log/search (program: --all)',
      },
      toMs: DISK_MS,
    },
  ]);
});

it.each([
  ['a later range', { fromMs: DISK_MS - 9 }],
  ['no range: files are what was asked for', {}],
  ['another log', { fromMs: 0, family: 'new.log' }],
  ['one file', { fromMs: 0, file: 'app.log' }],
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
