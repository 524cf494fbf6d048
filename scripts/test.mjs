import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    'git',
    'grpc_python_plugin',
    'journalctl',
    'jq',
    'lnav',
    'logrotate',
    'openssl',
    'prlimit',
    'protoc',
    'python3-grpcio',
    'sqlite3',
    'strace',
    'systemd-analyze',
    'systemd-journal-remote',
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
// At the same time: suites wait for programs now and then.
const [lateChecks, suites] = await Promise.all([runChecks(late), runSuites(filters)]);
const checks = [...(await earlyChecks), ...lateChecks];
const passed = checks.filter(Boolean).length + suites.passed;
const failed = checks.filter((ok) => !ok).length + suites.failed;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 && suites.ok ? 0 : 1;

async function runSuites(paths) {
  const folder = mkdtempSync(join(tmpdir(), 'porthole-test-'));
  const report = join(folder, 'report.json');
  try {
    const vitest = [
      ...FLAGS,
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ];
    const status = await runGroup(process.execPath, [...vitest, ...paths], { cwd: ROOT });
    const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
    // A suite that fails to load has no failed test of its own; it still counts.
    const failedTests = numFailedTests > 0 || status === 0 ? numFailedTests : Math.max(1, numFailedTestSuites);
    return { passed: numPassedTests, failed: failedTests, ok: status === 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
