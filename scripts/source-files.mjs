// @ts-check
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './steps.mjs';

/**
 * Every file that would be committed, tracked or not, by an empty repository beside: the sources may come from an archive,
 * without one, or lie in that of something else.
 */
export function sourceFiles() {
  const repository = mkdtempSync(join(tmpdir(), 'porthole-sources-'));
  /** @param {string[]} args */
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 });
  try {
    git('init', '--quiet', '--bare', repository);
    const list = git(
      `--git-dir=${repository}`,
      `--work-tree=${ROOT}`,
      'ls-files',
      '-z',
      '--others',
      '--exclude-standard',
    );
    return list.split('\0').filter((path) => path !== '');
  } finally {
    rmSync(repository, { recursive: true, force: true });
  }
}
