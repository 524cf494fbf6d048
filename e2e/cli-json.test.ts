import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestNode } from '@porthole/server/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  COMMAND_TREE,
  type CommandDefinition,
  loadFlags,
  OUTPUT_SCHEMAS,
  outputSchemaDocument,
} from 'porthole/testing';
import { expect, it } from 'vitest';
import { runCommand } from './testing/program.ts';

const DOCUMENT = join(import.meta.dirname, '../docs/cli-output.schema.json');

const LINE = '2026-11-15 05:00:00.000\tERROR\ta.go:1\t[A]: broken\t{"took": 3}\n';

/** Command lines by command; LOGS is the directory with the logs, URL the node. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  nodes: ['nodes'],
  'config get': ['config get', 'config get http'],
  'config diff': ['config diff', 'config diff a.toml b.toml'],
  'config history': ['config history', 'config history -n 1'],
  events: ['events', 'events --kind started'],
  incident: ['incident', 'incident --from 2026-11-15T04:00:00Z --to 2026-11-15T06:00:00Z'],
  logs: ['logs', 'logs LOGS -C 1', 'logs LOGS LOGS/a.log', 'logs --all'],
  'logs ls': ['logs ls', 'logs ls LOGS', 'logs ls LOGS LOGS', 'logs ls --all'],
  'logs formats': ['logs formats', 'logs formats LOGS/a.log LOGS/b.log', 'logs formats a.log'],
  'logs search': ['logs search broken', 'logs search broken LOGS', 'logs search broken --all'],
  'logs digest': ['logs digest', 'logs digest LOGS LOGS/a.log', 'logs digest --all'],
  'logs histogram': ['logs histogram', 'logs histogram LOGS LOGS/a.log', 'logs histogram --all'],
  'logs top': ['logs top took', 'logs top took LOGS LOGS/a.log --buckets 3', 'logs top took --all'],
  'logs fields': ['logs fields', 'logs fields LOGS LOGS/a.log', 'logs fields --all'],
  'logs around': ['logs around --time 2026-11-15T05:00:00Z'],
  doctor: ['doctor'],
  conform: ['conform URL', 'conform URL --profile lindb-0.4', 'conform URL --log-dir LOGS'],
  'context list': ['context list'],
  'context show': ['context show here'],
};

async function jsonCommands(definition: CommandDefinition, path: readonly string[] = []): Promise<string[]> {
  const formats = (await loadFlags(definition)).find(({ long }) => long === 'output')?.choices ?? [];
  const below = (definition.commands ?? []).map((child) => jsonCommands(child, [...path, child.name]));
  return [...(formats.includes('json') ? [path.join(' ')] : []), ...(await Promise.all(below)).flat()];
}

it('the JSON of every command is of its schema', async () => {
  expect(Object.keys(OUTPUT_SCHEMAS)).toEqual(await jsonCommands(COMMAND_TREE));
  const ajv = new Ajv2020({ strict: false }).addSchema(outputSchemaDocument(), 'output');
  const { port, dir, logDir } = await startTestNode({
    settings: { node: { timeZone: 'UTC' } },
    files: { 'a.log': LINE + LINE.replace('ERROR', 'INFO'), 'b.log': LINE },
  });
  writeFileSync(join(dir, 'a.toml'), 'a = 1\nb = 2\n');
  writeFileSync(join(dir, 'b.toml'), 'a = 1\nc = 3\n');
  const url = `http://127.0.0.1:${port}`;
  const env = { TZ: 'UTC', HOME: dir, PORTHOLE_URL: url };
  await runCommand(['context', 'add', 'here', url], dir, env);
  for (const [command, { isLines }] of Object.entries(OUTPUT_SCHEMAS)) {
    const check = ajv.compile({ $ref: `output#/$defs/${command.replaceAll(' ', '%20')}` });
    for (const line of LINES[command] ?? []) {
      const words = line.split(' ').map((word) => word.replace('LOGS', logDir).replace(/^URL$/, url));
      const { stdout, stderr } = await runCommand([...words, '-o', 'json'], dir, env);
      const texts = isLines ? stdout.split('\n').slice(0, -1) : [stdout];
      expect(texts, `${line}: ${stderr}`).not.toEqual([]);
      for (const text of texts) {
        const isValid = check(JSON.parse(text));
        expect(isValid ? [] : check.errors, `${line}: ${text}`).toEqual([]);
      }
    }
  }
});

it('docs/cli-output.schema.json has these schemas (UPDATE_DOCS=1 writes it)', () => {
  const text = `${JSON.stringify(outputSchemaDocument(), null, 2)}\n`;
  if (process.env.UPDATE_DOCS === '1') writeFileSync(DOCUMENT, text);
  else expect(JSON.parse(readFileSync(DOCUMENT, 'utf8'))).toEqual(JSON.parse(text));
});
