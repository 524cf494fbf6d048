import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { COMMAND_TREE, type CommandDefinition, loadFlags } from 'porthole/testing';
import { expect, it, onTestFinished } from 'vitest';
import { BINARY, Program, runToEnd } from './testing/program.ts';
import { runAllOnTerminal, runOnTerminal, TerminalProgram } from './testing/pseudo-terminal.ts';

/** Stands in all that the node knows, and is replaced on the way by what a terminal would act on. */
const PLACEHOLDER = 'EVIL';

/** Sets the title, rings, colours by an 8-bit control, hides, moves the cursor, answers back, turns the text around. */
const HOSTILE = '\u001b]0;owned\u0007\u009b31m\u001b[8m\u001b[2J\u001b[6n\b\u202e\u2066\u0085\u007f';

/** The program's own: drawing over a line, and with colours these. */
const OWN = ['\r\u001b[K', '\u001b[K'];
const OWN_COLORS = [1, 2, 4, 7, 22, 24, 27, 31, 32, 33, 34, 35, 36, 39, 92, 94, 95, 96].map(
  (code) => `\u001b[${code}m`,
);

/** Position of the first character that no terminal may get, -1 for none. */
function findActedOn(text: string): number {
  return text.search(/[\p{Cc}\p{Bidi_Control}]/u) < 0 ? -1 : [...text].findIndex(isActedOn);
}

function isActedOn(character: string): boolean {
  return !['\n', '\t', '\r'].includes(character) && /[\p{Cc}\p{Bidi_Control}]/u.test(character);
}

/** Not run here: they stay until they are stopped; what others serve, they show to programs only (mcp) or not at all. */
const STAYING = new Set(['serve', 'demo', 'mcp']);

/** Ways to call each command, URL is the hostile node; an output format that is a choice is added by itself. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  nodes: [[]],
  'nodes forget': [['EVIL', '--yes']],
  'config init': [['EVIL.toml'], ['EVIL/EVIL']],
  'config get': [[], ['EVIL.key'], ['nothing.EVIL']],
  'config diff': [[]],
  'config history': [[], ['EVIL']],
  'config at': [['now', 'EVIL'], ['EVIL']],
  events: [[], ['EVIL']],
  incident: [['--from', '2026-11-15T09:00:00Z', '--to', '2026-11-15T11:00:00Z'], ['EVIL'], ['-Q', 'EVIL"']],
  'notify test': [
    ['--notify-webhook', '{"name":"a","url-file":"EVIL"}'],
    ['--notify-webhook', '{"name":"EVIL","url":"EVIL"}'],
  ],
  logs: [['-n', '5'], ['EVIL-missing.log'], ['-n', '5', '--template', 'EVIL {message} {EVIL}'], ['-Q', 'EVIL"']],
  'logs ls': [[]],
  'logs formats': [[], ['EVIL.log'], ['EVIL-missing.log']],
  'logs search': [['EVIL']],
  'logs digest': [[]],
  'logs histogram': [[]],
  'logs top': [['component'], ['EVIL']],
  'logs fields': [[]],
  'logs around': [['-t', '2026-11-15T10:00:00Z']],
  'logs download': [['EVIL.log', '--to', '-'], ['EVIL-missing.log']],
  bundle: [['EVIL-missing']],
  'bundle verify': [['damaged.zip'], ['EVIL-missing.zip']],
  'archive init': [
    ['--archive-url', 'http://127.0.0.1:1/EVIL', '--dry-run'],
    ['--archive-database', 'EVIL'],
  ],
  'archive status': [[]],
  'archive verify': [[], ['EVIL']],
  doctor: [[]],
  conform: [['URL'], ['EVIL']],
  'context add': [['EVIL', 'http://127.0.0.1:1']],
  'context list': [[]],
  'context show': [['EVIL']],
  'context use': [['EVIL']],
  'context remove': [['EVIL']],
  token: [['ann'], ['EVIL']],
  completion: [['bash'], ['EVIL']],
  version: [[]],
};

interface Command {
  path: string;
  definition: CommandDefinition;
}

function listCommands(definition: CommandDefinition, path: readonly string[] = []): Command[] {
  const inner = (definition.commands ?? []).flatMap((child) => listCommands(child, [...path, child.name]));
  return definition.load ? [{ path: path.join(' '), definition }, ...inner] : inner;
}

it('no command lets a hostile node, log or name act on the terminal', async () => {
  const node = await startHostileNode();
  const commands = listCommands(COMMAND_TREE).filter(({ path }) => !STAYING.has(path));
  expect(commands.map(({ path }) => path).sort()).toEqual(Object.keys(CALLS).sort());
  const runs: string[][] = [['EVIL'], ['logs', '--EVIL']];
  for (const { path, definition } of commands) {
    const flags = await loadFlags(definition);
    const formats = flags.find(({ long }) => long === 'output')?.choices ?? [];
    const url = flags.some(({ long }) => long === 'url') ? ['--url', node.url] : [];
    for (const [index, call] of (CALLS[path] ?? []).entries()) {
      const outputs = index === 0 && formats.length > 0 ? formats.map((format) => ['-o', format]) : [[]];
      const words = call.map((word) => (word === 'URL' ? node.url : word));
      for (const output of outputs) runs.push([...path.split(' '), ...words, ...url, ...output]);
    }
  }
  const inOneProcess = runs.length;
  runs.push(
    ['logs', 'ls', 'files'],
    ['logs', 'files', '-n', '5'],
    ['logs', 'files', '-o', 'raw'],
    ['logs', '-n', '5', '--url', node.url, '--color', 'always'],
  );
  const hostile = runs.map((args) =>
    args.map((word) => (word.startsWith('http') ? word : word.replaceAll(PLACEHOLDER, HOSTILE))),
  );
  const options = { cwd: node.dir, env: { NO_COLOR: '1' } };
  const outputs = await runAllOnTerminal(hostile.slice(0, inOneProcess), options);
  for (const args of hostile.slice(inOneProcess)) outputs.push((await runOnTerminal(args, options)).output);
  const shown = runs.map((args, index) => {
    const output = outputs[index] ?? '';
    const own = args.includes('--color') ? [...OWN, ...OWN_COLORS] : OWN;
    const rest = own.reduce((text, sequence) => text.replaceAll(sequence, ''), output);
    const at = findActedOn(rest);
    const found = at < 0 ? '' : JSON.stringify([...rest].slice(Math.max(0, at - 40), at + 20).join(''));
    return { args: args.join(' '), found, output };
  });
  expect(shown.filter(({ found }) => found !== '').map(({ args, found }) => `${args}: ${found}`)).toEqual([]);
  // It did reach the commands: what would have acted on the terminal is shown.
  const seen = shown.filter(({ output }) => /owned/.test(output)).map(({ args }) => args.split(' ')[0]);
  expect([...new Set(seen)].sort()).toEqual(expect.arrayContaining(['bundle', 'config', 'logs', 'nodes']));
});

it('in a pipe data is as it is, and messages are filtered all the same', async () => {
  const node = await startHostileNode();
  const raw = await runToEnd(['logs', 'files', '-o', 'raw'], node.dir);
  expect(raw.stdout).toContain('\u001b]0;owned\u0007');
  const missing = await runToEnd(['logs', `${HOSTILE}.log`, '--url', node.url], node.dir);
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toContain('owned');
  expect(findActedOn(missing.stderr)).toBe(-1);
});

interface HostileNode {
  url: string;
  dir: string;
}

/** A real node, all of whose answers are changed on the way. */
async function startHostileNode(): Promise<HostileNode> {
  const line = (text: string) => `2026-11-15T10:00:00.000Z ERROR [${PLACEHOLDER}] ${text} ${PLACEHOLDER}\n`;
  const { port, dir } = await startTestNode({
    settings: { cluster: { nodeId: `${PLACEHOLDER}-1`, members: [`${PLACEHOLDER}-2=http://127.0.0.1:1/`] } },
    config: () => `[${PLACEHOLDER}]\nkey = "${PLACEHOLDER}"\n# ${PLACEHOLDER}\n`,
    files: { [`${PLACEHOLDER}.log`]: line('first') + line('second') },
  });
  const bundle = Buffer.from(await (await fetch(`http://127.0.0.1:${port}/api/v1/bundle`)).arrayBuffer());
  const name = Buffer.from(`${PLACEHOLDER}.log`);
  // As long as the name it takes the place of: the archive stays whole, and its manifest does not know it.
  const hostileName = Buffer.from('\u001b]0;\u0007owned'.slice(0, name.length), 'latin1');
  for (let at = bundle.indexOf(name); at >= 0; at = bundle.indexOf(name, at + 1)) hostileName.copy(bundle, at);
  writeFileSync(join(dir, 'damaged.zip'), bundle);
  mkdirSync(join(dir, 'files'));
  const bytes = Buffer.concat([Buffer.from(line(HOSTILE)), Buffer.from([0x9b, 0x33, 0x31, 0x6d, 0x0a])]);
  writeFileSync(join(dir, 'files', 'a\u001b]0;owned\u0007\u009b.log'), bytes);
  const server = createServer((incoming, outgoing) => forward(port, incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, dir };
}

function forward(port: number, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { host: _host, 'accept-encoding': _encoding, ...headers } = incoming.headers;
  const hostile = encodeURIComponent(HOSTILE);
  const path = (incoming.url ?? '/')
    .replaceAll(hostile, PLACEHOLDER)
    .replaceAll(hostile.replaceAll('%20', '+'), PLACEHOLDER);
  const asked = request({ host: '127.0.0.1', port, path, method: incoming.method, headers }, (answer) => {
    const parts: Buffer[] = [];
    answer.on('data', (part: Buffer) => parts.push(part));
    answer.on('end', () => {
      const isJson = /json|event-stream|porthole.records/.test(String(answer.headers['content-type']));
      const text = isJson ? JSON.stringify(HOSTILE).slice(1, -1) : HOSTILE;
      const body = Buffer.from(Buffer.concat(parts).toString('utf8').replaceAll(PLACEHOLDER, text));
      const { 'content-length': _length, etag: _etag, 'repr-digest': _digest, ...kept } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 500, kept).end(body);
    });
  });
  asked.on('error', () => outgoing.destroy());
  incoming.pipe(asked);
}

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

const PIPED_LINES = [
  '2026-11-15 05:00:00.000\tINFO\ta.go:1\tready\n',
  '2026-11-15 05:00:01.000\tERROR\ta.go:2\tbroken\n',
  '2026-11-15 05:00:02.000\tINFO\ta.go:3\tmended\n',
];
const [, broken = ''] = PIPED_LINES;

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
  writeFileSync(join(cwd, 'a.log'), PIPED_LINES.join(''));
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
