import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BUILT_CHECKS, CHECKS, runChecks } from './checks.mjs';
import { neededPrograms } from './needed-programs.mjs';
import { canInstall, installCommand, missingPrograms } from './programs.mjs';
import { runGroup } from './run-group.mjs';
import { build, fail, install, ROOT } from './steps.mjs';

// npm test              the gate: checks, and all tests but those of the system tier
// npm run test:system   the system tier: what is heavy, hostile or about releases (*.system.test.ts), and all other checks
// npm test -- FILTER    test files of both tiers whose path contains FILTER, without checks
const args = process.argv.slice(2);
const filters = args.filter((arg) => arg !== '--system');
const tier = filters.length > 0 ? 'both' : args.includes('--system') ? 'system' : 'gate';

/** Where a skipped test is a failure: there everything can be installed. */
const IS_STRICT = canInstall() || Boolean(process.env.CI);

const FLAGS = [
  // Node.js 20 ends itself now and then when a thread ends whose functions are still being compiled by another.
  '--no-concurrent-recompilation',
  // Optimises what has run for four times as long as usual: most functions of a test have done their work by then.
  ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=270000'] : []),
];

/**
 * Each thread loads, compiles and optimises what its files use. Computing tests run apart from those that wait for
 * browsers and programs about half of the time. Some of them wait, too: they have two threads more than there usually
 * are cores.
 */
const RUNS = [
  { paths: ['packages/', 'test/'], workers: 4 },
  { paths: ['e2e/'], workers: 2, env: { TEST_USES_BUILD: 'true' } },
];

const checks = tier === 'both' ? [] : [...CHECKS, ...BUILT_CHECKS].filter((check) => check.tier === tier);
// Beside the build: both wait for the network and for the disk in turn.
const [skippedFiles] = await Promise.all([preparePrograms(), install().then(build)]);
// At the same time: suites wait for programs now and then.
const [results, ...runs] = await Promise.all([
  runChecks(checks),
  ...(tier === 'both' ? [{ paths: filters }] : RUNS).map(runVitest),
]);
const sum = (count) => runs.reduce((total, run) => total + count(run), 0);
const passed = results.filter(Boolean).length + sum((run) => run.passed);
const failed = results.filter((ok) => !ok).length + sum((run) => run.failed);
const skipped = skippedFiles.size + sum((run) => run.skipped.length);
for (const [file, programs] of skippedFiles) console.log(`skipped ${file}: it needs ${programs.join(', ')}`);
for (const name of runs.flatMap((run) => run.skipped)) console.log(`skipped ${name}`);
if (skippedFiles.size > 0) {
  const missing = [...new Set([...skippedFiles.values()].flat())].sort();
  console.log(`run as root to install what is missing, or run: ${installCommand(missing)}`);
}
if (skipped > 0 && IS_STRICT) console.log('a skipped test is a failure here: everything it needs can be installed');
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 && passed > 0 && !(skipped > 0 && IS_STRICT) ? 0 : 1;

/** Installs the programs that the test files of this run need; the files that cannot run, with what they miss. */
async function preparePrograms() {
  const needs = neededPrograms(listFiles());
  const missing = missingPrograms([...new Set([...needs.values()].flat())].sort());
  if (missing.length === 0) return new Map();
  if (canInstall()) {
    const status = await runGroup(process.execPath, ['scripts/install-programs.mjs', ...missing], { cwd: ROOT });
    if (status !== 0) fail('the programs that tests need could not be installed');
    return new Map();
  }
  const without = [...needs].map(([file, names]) => [file, names.filter((name) => missing.includes(name))]);
  return new Map(without.filter(([, names]) => names.length > 0));
}

/** The test files of this run. */
function listFiles() {
  const files = ['packages', 'test', 'e2e'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((path) => join(folder, path)),
  );
  const tests = files.filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'));
  if (tier === 'both') return tests.filter((path) => filters.some((filter) => path.includes(filter)));
  return tests.filter((path) => path.endsWith('.system.test.ts') === (tier === 'system'));
}

async function runVitest({ paths, workers, env = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'porthole-test-'));
  const report = join(folder, 'report.json');
  const given = {
    ...env,
    TEST_IS_BUILT: 'true',
    TEST_REPORT: report,
    TEST_TIER: tier,
    TEST_SKIPPED_FILES: [...skippedFiles.keys()].join('\n'),
  };
  const vitest = [...FLAGS, 'node_modules/vitest/vitest.mjs', 'run', '--passWithNoTests', ...paths];
  try {
    const threads = workers ? [`--maxWorkers=${workers}`] : [];
    const status = await runGroup(process.execPath, [...vitest, ...threads], { cwd: ROOT, env: given });
    const files = JSON.parse(readFileSync(report, 'utf8')).testResults.map(readFileResult);
    const count = (kind) => files.reduce((total, file) => total + file[kind], 0);
    // An error outside of all files has no failed test of its own; it still counts.
    const failed = status === 0 ? count('failed') : Math.max(1, count('failed'));
    return { passed: count('passed'), failed, skipped: files.flatMap((file) => file.skipped) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readFileResult({ name, status, assertionResults }) {
  const withStatus = (wanted) => assertionResults.filter((test) => test.status === wanted);
  const failed = withStatus('failed').length;
  // A file that fails to load, or before its first test, has no failed test; it still counts.
  const isBroken = status === 'failed' && failed === 0;
  const path = relative(ROOT, name);
  const skipped = assertionResults.filter((test) => !['passed', 'failed'].includes(test.status));
  return {
    passed: withStatus('passed').length,
    failed: isBroken ? 1 : failed,
    skipped: isBroken ? [] : skipped.map((test) => `${path}: ${test.fullName}`),
  };
}
