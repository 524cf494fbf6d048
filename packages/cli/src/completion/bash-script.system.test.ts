import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { COMMAND_TREE } from '../command-tree.ts';
import { bashScript } from './bash-script.ts';
import { type CompletedCommand, completedCommands } from './completed-command.ts';

let commands: CompletedCommand[];
let script: string;

beforeAll(async () => {
  commands = await completedCommands(COMMAND_TREE);
  script = bashScript('porthole', commands);
});

/** What bash would offer for the last of the words, in a directory with a file and a directory. */
function complete(...words: string[]): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-bash-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, 'some logs'));
  writeFileSync(join(dir, 'settings.toml'), '');
  const line = ['COMP_WORDS=("porthole" "$@")', 'COMP_CWORD=$#', '_porthole', `printf '%s\\n' "\${COMPREPLY[@]}"`];
  const output = execFileSync('bash', ['--norc', '-c', [script, ...line].join('\n'), 'bash', ...words], {
    cwd: dir,
    encoding: 'utf8',
    // It asks the node for names of logs, and one may be running on this machine.
    env: { ...process.env, PORTHOLE_URL: 'http://127.0.0.1:1' },
  });
  return output.split('\n').filter((word) => word !== '');
}

describe('completion in bash', () => {
  it('is a script that bash can read', () => {
    expect(() => execFileSync('bash', ['-n'], { input: script })).not.toThrow();
  });

  it('offers every command', () => {
    expect(complete('')).toEqual(COMMAND_TREE.commands?.map(({ name }) => name));
  });

  it('offers the flags of every command, and only those', () => {
    for (const { path, flags } of commands) {
      const names = flags.flatMap(({ long, short }) => [...(short ? [`-${short}`] : []), `--${long}`]);
      expect(complete(...path.split(' ').filter(Boolean), '-')).toEqual(names);
    }
  });

  it.each([
    [['lo'], ['logs']],
    [
      ['config', ''],
      ['init', 'get', 'diff', 'history', 'at'],
    ],
    [['logs', 'sea'], ['search']],
    [['logs', '-S', '2h', 'sea'], ['search']],
    [['logs', 'search', '--outp'], ['--output']],
    [
      ['logs', '-o', ''],
      ['pretty', 'raw', 'json', 'logfmt', 'table', 'csv', 'template'],
    ],
    [['config', 'diff', '--output', 'u'], ['unified']],
    [['config', 'diff', '--output', '=', 'u'], ['unified']],
    [
      ['config', 'diff', '--output', '='],
      ['table', 'unified', 'json'],
    ],
    [['logs', '--color', 'n'], ['never']],
    [
      ['serve', '--log-level', ''],
      ['debug', 'info', 'warn', 'error'],
    ],
    [['serve', '--log-dir', ''], ['some logs']],
    [['serve', '--config', 'set'], ['settings.toml']],
    [['config', 'get', 'se'], ['settings.toml']],
    [['config', 'diff', 'settings.toml', 'so'], ['some logs']],
    [['logs', 'so'], ['some logs']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['completion', 'bash', ''], []],
    [['token', ''], []],
    [['config', 'get', '--url', ''], ['http://127.0.0.1:7300']],
  ])('of %j offers %j', (words, offered) => {
    expect(complete(...words)).toEqual(offered);
  });
});
