import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BUILT_CHECKS, CHECKS, runChecks } from './checks.mjs';
import { ensurePrograms } from './programs.mjs';
import { runGroup } from './run-group.mjs';
import { build, fail, install, ROOT } from './steps.mjs';

// npm test            everything: checks, then all suites
// npm test -- FILTER  only test files whose path holds FILTER, without the checks
const filters = process.argv.slice(2);
await install();
// A check that is a test runs with the suites.
const [early, late] = [false, true].map((needsBuild) =>
  filters.length > 0
    ? []
    : [...CHECKS, ...BUILT_CHECKS].filter((check) => !check.isTest && (check.needsBuild ?? true) === needsBuild),
);
const earlyChecks = runChecks(early);
await build();
try {
  ensurePrograms([
    'chromium',
    'clickhouse-server',
    'curl',
    'etcd',
    'faketime',
    'firefox-esr',
    'git',
    'grpc_python_plugin',
    'initdb',
    'journalctl',
    'jq',
    'lnav',
    'logrotate',
    'mandoc',
    'mariadb',
    'mariadb-install-db',
    'mariadbd',
    'nginx',
    'openssl',
    'postgres',
    'prlimit',
    'prometheus',
    'promtool',
    'protoc',
    'psql',
    'python3-grpcio',
    'redis-cli',
    'redis-server',
    'sqlite3',
    'strace',
    'systemd-analyze',
    'systemd-journal-remote',
    'systemd-sysusers',
  ]);
} catch (error) {
  fail(error.message);
}

const FLAGS = [
  // Node.js 20 ends itself now and then when a thread ends whose functions are still being compiled by another.
  '--no-concurrent-recompilation',
  // Optimises what has run for four times as long as usual: most functions of a test have done their work by then.
  ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=270000'] : []),
];
/**
 * Each thread loads, compiles and optimises whatever its files use. So what computes does not run in the threads of the
 * suites that wait for browsers and programs about half of the time. Some of it waits, too: it has one thread more than
 * there usually are cores.
 */
const RUNS = [
  { args: ['packages/', 'test/', '--maxWorkers=3'] },
  { args: ['e2e/', '--maxWorkers=2'], env: { TEST_USES_BUILD: 'true' } },
];
/** More than these do not fail by chance. */
const MAX_REPEATED_FILES = 6;
// At the same time: suites wait for programs now and then.
const [lateChecks, suites] = await Promise.all([runChecks(late), runSuites(filters)]);
const checks = [...(await earlyChecks), ...lateChecks];
const passed = checks.filter(Boolean).length + suites.passed;
const failed = checks.filter((ok) => !ok).length + suites.failed;
// Last, where everybody sees them: each is a test to mend.
for (const name of suites.impatient) console.log(`FAILED BESIDE OTHERS, PASSED ALONE: ${name}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 && suites.ok ? 0 : 1;

/**
 * A test that fails beside others and passes alone shows that it was too impatient, not that the product is wrong: a few
 * files that failed run once more with the machine to themselves, and what failed is named even if it passes then.
 */
async function runSuites(paths) {
  const first = joinRuns(await Promise.all((paths.length > 0 ? [{ args: paths }] : RUNS).map(runVitest)));
  const files = first.files.filter(({ failed }) => failed.length > 0);
  if (files.length === 0 || files.length > MAX_REPEATED_FILES) return { ...first, impatient: [] };
  const names = files.map(({ path }) => path);
  console.log(`running again, alone: ${names.join(', ')}`);
  const second = await runVitest({ args: [...names, '--maxWorkers=1'] });
  const impatient = files.flatMap(({ path, failed }) => {
    const again = second.files.find((file) => file.path === path)?.failed ?? failed;
    return failed.filter((name) => !again.includes(name)).map((title) => `${path}: ${title}`);
  });
  const others = first.files.filter(({ path }) => !names.includes(path));
  return { ok: second.ok, impatient, ...countTests([...others, ...second.files]) };
}

async function runVitest({ args, env = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'porthole-test-'));
  const report = join(folder, 'report.json');
  try {
    const vitest = [...FLAGS, 'node_modules/vitest/vitest.mjs', 'run'];
    const given = { ...env, TEST_IS_BUILT: 'true', TEST_REPORT: report };
    const status = await runGroup(process.execPath, [...vitest, ...args], { cwd: ROOT, env: given });
    const files = JSON.parse(readFileSync(report, 'utf8')).testResults.map(readFileResult);
    const { passed, failed } = countTests(files);
    // An error outside of all files has no failed test of its own; it still counts.
    return { ok: status === 0, files, passed, failed: status === 0 ? failed : Math.max(1, failed) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function joinRuns(runs) {
  const sum = (count) => runs.reduce((total, run) => total + count(run), 0);
  return {
    ok: runs.every(({ ok }) => ok),
    files: runs.flatMap(({ files }) => files),
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
  };
}

function readFileResult({ name, status, assertionResults }) {
  const titles = (wanted) => assertionResults.filter((test) => test.status === wanted).map((test) => test.fullName);
  const failed = titles('failed');
  // What fails to load, or before its first test, has no failed test; it still counts.
  const isBroken = status === 'failed' && failed.length === 0;
  return { path: relative(ROOT, name), passed: titles('passed').length, failed: isBroken ? ['(all of it)'] : failed };
}

function countTests(files) {
  const sum = (count) => files.reduce((total, file) => total + count(file), 0);
  return { passed: sum((file) => file.passed), failed: sum((file) => file.failed.length) };
}
