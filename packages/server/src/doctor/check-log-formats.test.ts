import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createZone, type FoundRecord, LogDir } from '@porthole/logs';
import { searchItems } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { loadSettings } from '../settings/load-settings.ts';
import { readFormats } from '../settings/setting-kinds.ts';
import { checkLogFormats } from './check-log-files.ts';
import { runCheck } from './testing/run-check.ts';

const PAGE = new URL('../../../../docs/formats.md', import.meta.url);
const FORMAT = { name: 'own', lines: ['{time} {level} {message}'], times: ['yyyy-MM-dd HH:mm:ss'] };

function check(...samples: unknown[][]) {
  const formats = samples.map((lines, index) =>
    JSON.stringify({ ...FORMAT, name: `own-${index + 1}`, lines: [`${index}|${FORMAT.lines[0]}`], samples: lines }),
  );
  return runCheck(checkLogFormats, { settings: { log: { formats }, node: { timeZone: 'UTC' } } });
}

test('without formats there is nothing to check', async () => {
  expect(await check()).toEqual([]);
});

test('each format is checked against its samples', async () => {
  const expected = { time: '2026-11-15T10:00:00Z', level: 'info' };
  const found = await check(
    ['0|2026-11-15 10:00:00 WARN x', '0|2026-11-15 10:00:00 INFO y'],
    [{ line: '1|2026-11-15 11:00:00 WARN x', ...expected }, 'nothing'],
    [],
  );
  expect(found.map(({ state, detail }) => `${state} ${detail}`)).toEqual([
    'ok log.formats: format "own-1" reads its 2 samples',
    'problem log.formats: format "own-2": sample 1 has the time 2026-11-15T11:00:00.000Z, expected 2026-11-15T10:00:00.000Z',
    'problem log.formats: format "own-2": sample 1 has the level WARN, expected INFO',
    'problem log.formats: format "own-2": sample 2 is not matched by any of its layouts: "nothing"',
    'warning log.formats: format "own-3" has no samples',
  ]);
});

test('the examples of docs/formats.md are valid, and read a log of their samples', async () => {
  const examples = [...readFileSync(PAGE, 'utf8').matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  expect(examples).toHaveLength(2);
  for (const text of examples) {
    const dir = tempDir();
    writeFileSync(join(dir, 'porthole.toml'), text);
    const { settings } = await loadSettings({ file: 'porthole.toml', workDir: dir });
    const outcomes = await runCheck(checkLogFormats, { settings: { log: settings.log, node: { timeZone: 'UTC' } } });
    expect(outcomes.map(({ state }) => state)).toEqual(['ok']);

    const formats = readFormats(settings.log.formats);
    const samples = formats.flatMap((format) => format.samples);
    writeFileSync(join(dir, 'own.log'), samples.map(({ line }) => `${line}\n`).join(''));
    const logs = new LogDir(dir, { zone: createZone('UTC'), formats, scansHere: true, workers: 0 });
    onTestFinished(() => logs.close());
    const found: FoundRecord[] = [];
    for await (const items of searchItems(logs, {
      src: ['=own.log'],
      order: 'oldest',
      limit: 100,
      before: 0,
      after: 0,
    }))
      for (const item of items) if (item.type === 'record') found.push(item);
    const clock = (time: number | undefined) => new Date(time ?? 0).toISOString().slice(5, 19);
    expect(found.map(({ timeMs, level }) => ({ time: clock(timeMs), level }))).toEqual(
      samples.map(({ time = '', level }) => ({ time: time.slice(5, 19), level })),
    );
  }
});
