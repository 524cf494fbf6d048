import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runToEnd, tempDir } from './testing/program.ts';

describe('porthole completion', () => {
  it('prints a script that bash completes with', async () => {
    const { code, stdout, stderr } = await runToEnd(['completion', 'bash'], tempDir());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const ask = 'COMP_WORDS=(porthole config d); COMP_CWORD=2; _porthole; echo "$COMPREPLY"';
    expect(execFileSync('bash', ['--norc', '-c', `${stdout}\n${ask}`], { encoding: 'utf8' })).toBe('diff\n');
  });

  it.each([
    ['zsh', '#compdef porthole\n'],
    ['fish', '# fish completion of porthole'],
  ])('prints a script for %s', async (shell, start) => {
    const { code, stdout } = await runToEnd(['completion', shell], tempDir());
    expect(code).toBe(0);
    expect(stdout.startsWith(start)).toBe(true);
  });

  it('refuses another shell with exit code 2 and the list', async () => {
    expect(await runToEnd(['completion', 'tcsh'], tempDir())).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: 'porthole: no completion for shell "tcsh": expected bash, zsh or fish\n',
    });
  });
});
