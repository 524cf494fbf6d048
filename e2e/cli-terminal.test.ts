import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startTestNode } from '@porthole/server/testing';
import { COMMAND_TREE, type CommandDefinition, loadFlags } from 'porthole/testing';
import { expect, it, onTestFinished } from 'vitest';
import { runToEnd } from './testing/program.ts';
import { runAllOnTerminal, runOnTerminal } from './testing/pseudo-terminal.ts';

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

/** Ways to call each command; an output format that is a choice is added by itself. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  nodes: [[]],
  'nodes forget': [['EVIL', '--yes']],
  'config get': [[], ['EVIL.key'], ['nothing.EVIL']],
  'config diff': [[]],
  logs: [['-n', '5'], ['EVIL-missing.log'], ['-n', '5', '--template', 'EVIL {message} {EVIL}'], ['-Q', 'EVIL"']],
  'logs ls': [[]],
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
      for (const output of outputs) runs.push([...path.split(' '), ...call, ...url, ...output]);
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
      const isJson = /json|event-stream/.test(String(answer.headers['content-type']));
      const text = isJson ? JSON.stringify(HOSTILE).slice(1, -1) : HOSTILE;
      const body = Buffer.from(Buffer.concat(parts).toString('utf8').replaceAll(PLACEHOLDER, text));
      const { 'content-length': _length, etag: _etag, 'repr-digest': _digest, ...kept } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 500, kept).end(body);
    });
  });
  asked.on('error', () => outgoing.destroy());
  incoming.pipe(asked);
}
