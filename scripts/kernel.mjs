import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import asc from 'assemblyscript/asc';

/* Compiles packages/logs/kernel/NAME.ts to packages/logs/src/kernel/NAME-wasm.ts: `npm run kernel`. */

const SOURCES = new URL('../packages/logs/kernel/', import.meta.url);
const OUTPUTS = new URL('../packages/logs/src/kernel/', import.meta.url);

/** Module text by output name, for all kernels. */
export async function compileKernels() {
  const names = readdirSync(SOURCES).filter((name) => name.endsWith('.ts'));
  const outputs = new Map();
  for (const name of names) outputs.set(name.replace('.ts', '-wasm.ts'), moduleText(name, await compile(name)));
  return outputs;
}

async function compile(name) {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-kernel-'));
  try {
    const output = join(dir, 'kernel.wasm');
    const options = [
      '--runtime',
      'stub',
      '--enable',
      'simd',
      '-O3',
      '--noAssert',
      '--importMemory',
      '--initialMemory',
      '1',
    ];
    const { error, stderr } = await asc.main([new URL(name, SOURCES).pathname, '-o', output, ...options]);
    if (error) throw new Error(`${name}: ${error.message}\n${stderr}`);
    return readFileSync(output);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function moduleText(name, wasm) {
  const lines = wasm.toString('base64').match(/.{1,110}/g) ?? [];
  return `// Made by \`npm run kernel\` from packages/logs/kernel/${name}; do not edit.\nexport const WASM_BASE64 = [\n${lines.map((line) => `  '${line}',`).join('\n')}\n].join('');\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const [name, text] of await compileKernels()) writeFileSync(new URL(name, OUTPUTS), text);
}
