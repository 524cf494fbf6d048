import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';

/** Whether this process may mount: as root of a machine or of a container that allows it. */
export function canMount(): boolean {
  // programs: unshare
  const may = spawnSync('unshare', ['--mount', 'true']).status === 0;
  if (!may) console.warn('this process may not mount: tests that need a small disk of their own are skipped');
  return may;
}

/** A disk of its own at the path, unmounted when the test ends. */
export function mountSmallDisk(path: string, size: string): void {
  mkdirSync(path, { recursive: true });
  run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'porthole-test', path]);
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', path]);
  });
}

export function remount(path: string, mode: 'ro' | 'rw'): void {
  run('mount', ['-o', `remount,${mode}`, path]);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
