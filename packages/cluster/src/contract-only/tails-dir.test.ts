import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { tempDir } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { createTailsDir, removeStaleTails } from './tails-dir.ts';

/** The number of a process that has ended. */
async function endedPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  return child.pid ?? 0;
}

/** What stands between the prefix and the random part of a directory of this process. */
async function ownerParts(): Promise<{ start: string; namespace: string }> {
  const [, , , start = '', namespace = ''] = basename(await createTailsDir(tempDir())).split('-');
  return { start, namespace };
}

function makeDir(parent: string, name: string): string {
  mkdirSync(join(parent, name, 'logs'), { recursive: true, mode: 0o700 });
  writeFileSync(join(parent, name, 'logs', 'a.log'), 'text\n');
  return name;
}

it('directories of processes that have ended are removed, and nothing else', async () => {
  const parent = tempDir();
  const { start, namespace } = await ownerParts();
  const gone = await endedPid();
  const stale = [
    makeDir(parent, `porthole-tails-${gone}-${start}-${namespace}-AbCd12`),
    // The number is in use again.
    makeDir(parent, `porthole-tails-${process.pid}-1-${namespace}-AbCd12`),
  ];
  const target = tempDir();
  makeDir(target, 'others');
  symlinkSync(target, join(parent, `porthole-tails-${gone}-2-${namespace}-AbCd12`));
  symlinkSync(target, join(parent, stale[0] ?? '', 'logs', 'link'));
  writeFileSync(join(parent, `porthole-tails-${gone}-3-${namespace}-AbCd12`), '');
  const kept = [
    basename(await createTailsDir(parent)),
    makeDir(parent, `porthole-tails-${process.pid}-${start}-${namespace}-AbCd12`),
    makeDir(parent, `porthole-tails-${gone}-${start}-77-AbCd12`),
    makeDir(parent, `porthole-tails-${gone}-${start}-${namespace}-AbCd12x`),
    makeDir(parent, 'porthole-tails-AbCd12'),
    makeDir(parent, `other-porthole-tails-${gone}-${start}-${namespace}-AbCd12`),
    `porthole-tails-${gone}-2-${namespace}-AbCd12`,
    `porthole-tails-${gone}-3-${namespace}-AbCd12`,
  ];
  if (process.getuid?.() === 0) {
    const theirs = makeDir(parent, `porthole-tails-${gone}-4-${namespace}-AbCd12`);
    chownSync(join(parent, theirs), 12_345, 12_345);
    kept.push(theirs);
  }
  expect(await removeStaleTails(parent)).toBe(stale.length);
  expect(readdirSync(parent).sort()).toEqual(kept.sort());
  expect(readdirSync(join(target, 'others', 'logs'))).toEqual(['a.log']);
});

it('nothing is removed where others could replace an entry meanwhile', async () => {
  const parent = tempDir();
  const { start, namespace } = await ownerParts();
  makeDir(parent, `porthole-tails-${await endedPid()}-${start}-${namespace}-AbCd12`);
  chmodSync(parent, 0o777);
  expect(await removeStaleTails(parent)).toBe(0);
  chmodSync(parent, 0o1777);
  expect(await removeStaleTails(parent)).toBe(1);
});
