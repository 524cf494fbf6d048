/*
 * Prints which systems' logs are read right, by Porthole and by lnav, and how fast formats are detected. With a
 * directory of logs that have their truth beside them (packages/logs/fixtures/heads/FORMAT.md): which of them are.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';

register();
const logs = await import('../packages/logs/src/testing/index.ts');
const { FIXTURES, FIXTURE_WRITTEN_MS, FIXTURE_ZONE } = logs;

/** Which of two neighbouring levels a status or a word has is a convention: 404 is a warning or an error. */
const LEVEL_GROUPS = { TRACE: 0, DEBUG: 0, INFO: 1, WARN: 2, ERROR: 2, FATAL: 2 };
const LNAV_GROUPS = {
  ...{ trace: 0, debug5: 0, debug4: 0, debug3: 0, debug2: 0, debug: 0, info: 1, stats: 1, notice: 1 },
  ...{ warning: 2, error: 2, critical: 2, fatal: 2 },
};
const QUARTER_HOUR_MS = 900_000;
const MAX_OFFSET_MS = 14 * 3_600_000;
const DETECTED_FILES = 1000;
const SAMPLE_BYTES = 64 * 1024;

const directory = process.argv.slice(2).find((argument) => !argument.startsWith('-'));
if (directory !== undefined) {
  const judged = logs.judgeCorpus(directory);
  const wrong = judged.filter(({ problems }) => problems.length > 0);
  for (const { name, format, problems } of wrong) console.log(`${name} (${format}): ${problems.join('; ')}`);
  console.log(`${judged.length - wrong.length} of ${judged.length} logs are read right`);
  process.exit(wrong.length > 0 ? 1 : 0);
}

const fixtures = logs.LOG_SYSTEMS.flatMap(({ fixture }) => fixture ?? []);
const lnav = judgeLnav() ?? logs.readLnavVerdicts();
if (process.argv.includes('--write')) {
  writeFileSync(new URL('lnav.json', FIXTURES), `${JSON.stringify(lnav, null, 2)}\n`);
}
process.stdout.write(logs.formatTable(lnav));
process.stdout.write(`\n${DETECTED_FILES} files of 64 KiB detected in ${Math.round(detectionMs())} ms of CPU time\n`);

/** `undefined` if lnav is not installed. */
function judgeLnav() {
  const version = spawnSync('lnav', ['-V'], { encoding: 'utf8' });
  if (version.error) return undefined;
  const dir = mkdtempSync(join(tmpdir(), 'porthole-formats-'));
  try {
    const verdicts = Object.fromEntries(fixtures.map((fixture) => [fixture, judgeByLnav(dir, fixture)]));
    return { version: version.stdout.trim(), verdicts };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function judgeByLnav(dir, fixture) {
  const path = join(dir, `${fixture.replace('/', '-')}.log`);
  copyFileSync(fileURLToPath(new URL(`${fixture}.log`, FIXTURES)), path);
  const { records: all, writtenMs } = logs.readTruth(fixture);
  utimesSync(path, writtenMs / 1000, writtenMs / 1000);
  const query = ';SELECT log_time_msecs AS ms, log_level AS level FROM all_logs';
  const { stdout } = spawnSync('lnav', ['-n', '-c', query, '-c', ':write-json-to -', path], {
    encoding: 'utf8',
    env: { ...process.env, TZ: FIXTURE_ZONE, HOME: dir },
  });
  const rows = stdout.trim().startsWith('[') ? JSON.parse(stdout) : [];
  // Lines before the first record are none to it.
  const truth = all.some(({ time }) => time !== undefined) ? all.filter(({ time }) => time !== undefined) : all;
  if (rows.length === 0) return ['not recognised'];
  let at = 0;
  const matched = truth.map(({ time }) => {
    const row = rows.findIndex(({ ms }, index) => index >= at && isSameTime(ms, time));
    if (row >= 0) at = row + 1;
    return rows[row];
  });
  const hasLevel = ({ level }, index) =>
    level === undefined || !matched[index] || LEVEL_GROUPS[level] === LNAV_GROUPS[matched[index].level];
  return [
    ...(rows.length === truth.length ? [] : ['records']),
    ...(matched.every((row) => row) ? [] : ['times']),
    ...(truth.every(hasLevel) ? [] : ['levels']),
  ];
}

/** It keeps times as they are written, in whatever zone. */
function isSameTime(ms, time) {
  if (time === undefined) return true;
  const differenceMs = Math.abs(ms - Date.parse(time));
  return differenceMs <= MAX_OFFSET_MS && differenceMs % QUARTER_HOUR_MS === 0;
}

function detectionMs() {
  const samples = readdirSync(FIXTURES)
    .filter((name) => name.endsWith('.log'))
    .map((name) => {
      const bytes = readFileSync(new URL(name, FIXTURES));
      return Buffer.concat(Array.from({ length: Math.ceil(SAMPLE_BYTES / bytes.length) }, () => bytes));
    });
  const started = process.cpuUsage();
  const detector = new logs.FormatDetector(logs.createZone(FIXTURE_ZONE));
  for (let file = 0; file < DETECTED_FILES; file++) {
    const sample = samples[file % samples.length].subarray(0, SAMPLE_BYTES);
    detector.detect(sample, FIXTURE_WRITTEN_MS);
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
