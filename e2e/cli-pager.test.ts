import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { tempDir } from './testing/program.ts';
import { runOnTerminal, TerminalProgram } from './testing/pseudo-terminal.ts';

/** More than the 40 rows of the terminal. */
const LINES = Array.from({ length: 100 }, (_, index) => `2026-11-15 05:00:00.000\tINFO\ta.go:1\tline ${index}\n`);

function inDir(): string {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'a.log'), LINES.join(''));
  return cwd;
}

it('more than a screen is shown with less, and quitting it ends the command', async () => {
  const program = new TerminalProgram(['logs', '-n', 'all', 'a.log'], { cwd: inDir(), env: { PAGER: 'less' } });
  // Its prompt.
  await eventually(() => expect(program.output).toMatch(/line 3[\s\S]*:/));
  expect(program.output).not.toContain('line 99');
  program.type('q');
  expect(await program.end()).toMatchObject({ code: 0 });
});

it('PORTHOLE_PAGER gets all of it, and less than a screen goes to the terminal', async () => {
  const cwd = inDir();
  const env = { PORTHOLE_PAGER: 'cat > paged', PAGER: 'false', NO_COLOR: '1' };
  expect(await runOnTerminal(['logs', '-o', 'raw', 'a.log'], { cwd, env })).toEqual({ code: 0, output: '' });
  expect(readFileSync(join(cwd, 'paged'), 'utf8')).toBe(LINES.join(''));
  const others = { cwd, env: { PORTHOLE_PAGER: 'touch other' } };
  const [short, unpaged] = await Promise.all([
    runOnTerminal(['logs', '-q', '-n', '1', 'a.log', '-g', 'line 7', '-o', 'raw'], others),
    runOnTerminal(['--no-pager', 'logs', '-o', 'raw', 'a.log'], others),
  ]);
  expect(short).toEqual({ code: 0, output: LINES[79] });
  expect(unpaged).toEqual({ code: 0, output: LINES.join('') });
  expect(existsSync(join(cwd, 'other'))).toBe(false);
});
