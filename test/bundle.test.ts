import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const LIB = new URL('../packages/cli/lib/', import.meta.url);

/** The code that a file of the built program loads before it runs. */
function loadedBy(entry: string): string {
  const texts = new Map<string, string>();
  const waiting = [entry];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (texts.has(name)) continue;
    const text = readFileSync(new URL(name, LIB), 'utf8');
    texts.set(name, text);
    for (const [, imported = ''] of text.matchAll(/^(?:import|export) (?:\{[^}]*\} from )?"\.\/([\w-]+\.js)";$/gm))
      waiting.push(imported);
  }
  return [...texts.values()].join('\n');
}

test.each([
  ['main.js', ['function buildOpenApi(', 'var LogDir = class', 'var WorkerPool = class']],
  ['config-worker.js', ['function buildOpenApi(', 'var LogDir = class', 'var WorkerPool = class']],
  ['index.js', ['var FollowHub = class', 'var LocalCluster = class']],
])('%s loads nothing that only others need', (entry, absent) => {
  const text = loadedBy(entry);
  expect(text.length).toBeGreaterThan(10_000);
  for (const code of absent) expect(text).not.toContain(code);
});

test('what is looked for above is what the bundler writes', () => {
  const files = readdirSync(LIB).filter((name) => name.endsWith('.js'));
  const text = files.map((name) => readFileSync(new URL(name, LIB), 'utf8')).join('\n');
  for (const code of ['function buildOpenApi(', 'var LogDir = class']) expect(text).toContain(code);
});
