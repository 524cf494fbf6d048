import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { BINARY, Program, tempDir } from './testing/program.ts';

const LINES = [
  '2026-11-15 05:00:00.000\tINFO\ta.go:1\tready\n',
  '2026-11-15 05:00:01.000\tERROR\ta.go:2\tbroken\n',
  '2026-11-15 05:00:02.000\tINFO\ta.go:3\tmended\n',
];
const [, broken = ''] = LINES;

/** A shell in which `porthole` is the program; its temporary files are below the directory. */
function shell(script: string, cwd: string): Program {
  return new Program(['-c', `porthole() { '${process.execPath}' '${BINARY}' "$@"; }; ${script}`], {
    cwd,
    command: 'bash',
    env: { TZ: 'UTC', TMPDIR: cwd },
  });
}

it('reads what is piped in, by - or without a source, and leaves nothing behind', async () => {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'a.log'), LINES.join(''));
  const script = 'cat a.log | porthole logs -g broken; porthole logs search broken - < a.log; : | porthole logs';
  const { stdout, stderr } = await shell(script, cwd).end();
  expect(stdout).toBe(broken + broken);
  expect(stderr).toBe('porthole: standard input is empty; to read the logs of a node instead, name it with --url\n');
  expect(readdirSync(cwd)).toEqual(['a.log']);
});

it('follows what is piped in until it ends, and a file from its end with -n 0', async () => {
  const cwd = tempDir();
  const path = join(cwd, 'a.log');
  writeFileSync(path, broken);
  const piped = shell('tail -n +1 -f a.log | porthole logs -f -l err', cwd);
  const fromEnd = new Program(['logs', '-f', '-n', '0', 'a.log'], { cwd, env: { TZ: 'UTC' } });
  await eventually(() => expect(piped.stdout).toBe(broken));
  const later = (second: number) =>
    `2026-11-15 05:01:${String(second % 60).padStart(2, '0')}.000\tERROR\ta.go:4\tagain\n`;
  let count = 0;
  await eventually(() => {
    appendFileSync(path, later(count++));
    expect(fromEnd.stdout).toContain('again');
    expect(piped.stdout).toContain('again');
  });
  expect(fromEnd.stdout).not.toContain('broken');
  expect(piped.stderr).toBe('');
  const ending = shell(`{ printf '${broken.replaceAll('\t', '\\t').replace('\n', '')}'; } | porthole logs -f -`, cwd);
  expect(await ending.end()).toMatchObject({ code: 0, stdout: broken.trimEnd() });
});
