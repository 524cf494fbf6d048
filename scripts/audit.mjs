import { auditInstalled } from './audit-installed.mjs';
import { askAdvisories, askSignatures, createTarballs } from './audit-registry.mjs';
import { readLock } from './locked-tree.mjs';
import { install, ROOT } from './steps.mjs';

/*
 * npm run audit                what can be checked here, and what the registry reports if it can be reached
 * npm run audit -- --offline   nobody is asked
 * npm run audit -- --online    before a release: that the registry cannot be asked is a failure
 */

/** When the Node.js project ends each of its lines, by https://github.com/nodejs/release (as of November 2026). */
const NODE_ENDS = { 20: '2026-04-30', 22: '2027-04-30', 24: '2028-04-30', 25: '2026-06-01', 26: '2029-04-30' };

const offline = process.argv.includes('--offline');
const online = process.argv.includes('--online');

await install();
const rows = [await installedRow(), deprecatedRow(), nodeRow()];
if (!offline) rows.push(row('advisories', await askAdvisories(ROOT)), row('signatures', await askSignatures(ROOT)));
for (const { name, good, problems, notices } of rows) {
  const verdict = problems.length > 0 ? 'WRONG' : notices.length > 0 ? 'note' : good;
  console.log([`${name}: ${verdict}`, ...[...problems, ...notices].map((text) => `  ${text}`)].join('\n'));
}
if (offline) console.log('advisories and signatures: not asked (--offline)');
process.exitCode = rows.some(({ problems }) => problems.length > 0) ? 1 : 0;

async function installedRow() {
  const tarballOf = createTarballs(ROOT, { fetchMissing: !offline });
  const { packages, problems, unseen } = await auditInstalled({ root: ROOT, tarballOf });
  const notices = unseen.map((folder) => `${folder}: not compared, its package is not in npm's cache`);
  const good = `${packages} packages, every file as in the package the lockfile means`;
  return { name: 'installed', good, problems, notices };
}

function deprecatedRow() {
  const notices = Object.entries(readLock(ROOT))
    .filter(([, { deprecated }]) => deprecated)
    .map(([folder, { deprecated }]) => `${folder}: ${deprecated}`);
  return { name: 'deprecated', good: 'none, as of the last change of the lockfile', problems: [], notices };
}

function nodeRow() {
  const [line = ''] = process.versions.node.split('.');
  const end = NODE_ENDS[line];
  const over = end !== undefined && end < new Date().toISOString().slice(0, 10);
  const notices = over ? [`Node.js ${line} gets no fixes since ${end}; run the program with a newer one`] : [];
  if (end === undefined) notices.push(`Node.js ${line} is not in the table of scripts/audit.mjs`);
  return { name: 'Node.js', good: `${line} gets fixes until ${end}`, problems: [], notices };
}

function row(name, { notAsked, problems, notices }) {
  const silent = notAsked === undefined ? [] : [`could not be asked: ${notAsked}`];
  const wrong = online ? [...problems, ...silent] : problems;
  return { name, good: 'nothing known', problems: wrong, notices: online ? notices : [...notices, ...silent] };
}
