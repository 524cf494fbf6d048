import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { describe, expect, it } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';
import { BINARY, runCommand, runToEnd } from './testing/program.ts';

const SHARDS = [13, 13, 130, 7]
  .map((shard) => `2026-11-15 05:00:00.000\tINFO\ta.go:1\tready\t{"shard":${shard}}\n`)
  .join('');

/** The machine may be busy. */
const PATIENT = { PORTHOLE_COMPLETE_MS: '60000' };

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

  it('knows contexts, nodes, logs and keys, and is silent about errors', async () => {
    const { cwd, url } = await startNamedNode();
    const lines: [kind: string, line: string, offered: string[]][] = [
      ['node', 'porthole --url URL nodes forget ', ['here']],
      ['log', 'porthole logs download --url=URL a', ['a.log']],
      ['source', "porthole logs -l 'a b' --url URL ", ['a.log', 'b.log', 'here:']],
      ['source', 'porthole logs --url URL here:b', ['here:b.log']],
      ['source', 'porthole logs --url URL ./', []],
      ['key', 'porthole config get --url URL http.po', ['http.port']],
      ['key', 'porthole config get a.toml us', ['user.name', 'user']],
      ['field', 'porthole logs top --url URL sh', ['shard']],
      ['field', 'porthole logs --url URL --fields level,sh', ['level,shard']],
      ['query', 'porthole logs --url URL -Q sh', ['shard']],
      ['query', 'porthole logs --url URL -Q shard=1', ['shard=13', 'shard=130']],
      ['value', 'porthole logs top shard --url URL --value 1', ['13', '130']],
      ['location', 'porthole logs --url URL --source ', ['a.go:1']],
      ['zone', 'porthole logs -z Europe/Ber', ['Europe/Berlin']],
      ['url', 'porthole nodes --url http://127.0.0.1:73', ['http://127.0.0.1:7300']],
      ['context', 'porthole nodes -c ', ['prod', 'test']],
      ['context', 'porthole nodes -c t', ['test']],
      ['node', 'porthole nodes forget --url http://127.0.0.1:1 ', []],
      ['node', 'porthole nodes forget -c absent ', []],
      ['nothing', 'porthole ', []],
    ];
    for (const [kind, line, offered] of lines) {
      const outcome = await runCommand(['__complete', kind, line.replace('URL', url)], cwd, { HOME: cwd, ...PATIENT });
      const stdout = offered.map((text) => `${text}\n`).join('');
      expect(outcome, line).toEqual({ code: 0, signal: null, stdout, stderr: '' });
    }
  });

  it('offers in bash what the program knows, also after a colon', async () => {
    const { cwd, url } = await startNamedNode();
    const { stdout: script } = await runCommand(['completion', 'bash'], cwd);
    const program = `porthole() { '${process.execPath}' '${BINARY}' "$@"; }`;
    const ask = (line: string, words: string) =>
      `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _porthole; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const lines = [
      ask('porthole logs here:b', 'porthole logs here : b'),
      ask('porthole logs download a', 'porthole logs download a'),
      ask('porthole nodes -c pr', 'porthole nodes -c pr'),
    ];
    const env = { PATH: process.env.PATH, HOME: cwd, PORTHOLE_URL: url, ...PATIENT };
    const run = promisify(execFile);
    const { stdout } = await run('bash', ['--norc', '-c', [script, program, ...lines].join('\n')], { cwd, env });
    expect(stdout.split('\n')).toEqual(['b.log', 'a.log', 'prod', '']);
  });
});

it('offers in fish what the program knows', async () => {
  const fish = ensurePrograms(['fish']).get('fish') ?? '';
  const { cwd, url } = await startNamedNode();
  const { stdout: script } = await runCommand(['completion', 'fish'], cwd);
  writeFileSync(join(cwd, 'porthole.fish'), script);
  const program = `function porthole; '${process.execPath}' '${BINARY}' $argv; end`;
  const lines = ['porthole logs -Q shard=1', 'porthole logs here:b', 'porthole nodes -c pr', 'porthole logs -l wa'];
  const asked = lines.map((line) => `complete -C '${line}' | string split -f 1 \\t`);
  const env = { PATH: process.env.PATH, HOME: cwd, PORTHOLE_URL: url, ...PATIENT };
  const run = promisify(execFile);
  const { stdout } = await run(fish, ['-N', '-c', [program, 'source porthole.fish', ...asked].join('\n')], {
    cwd,
    env,
  });
  expect(stdout.split('\n')).toEqual(['shard=13', 'shard=130', 'here:b.log', 'prod', 'warn', '']);
});

/** A node with the id `here` and two logs, two contexts, and a configuration file. */
async function startNamedNode() {
  const { port, dir } = await startTestNode({
    settings: { cluster: { nodeId: 'here' } },
    files: { 'a.log': '', 'b.log': SHARDS },
  });
  writeFileSync(join(dir, 'a.toml'), '[user]\nname = "ann"\n');
  mkdirSync(join(dir, '.config/porthole'), { recursive: true });
  const contexts = { prod: { url: 'http://127.0.0.1:1' }, test: { url: 'http://127.0.0.1:1' } };
  const file = join(dir, '.config/porthole/contexts.json');
  writeFileSync(file, JSON.stringify({ version: 1, contexts }), { mode: 0o600 });
  return { cwd: dir, url: `http://127.0.0.1:${port}` };
}
