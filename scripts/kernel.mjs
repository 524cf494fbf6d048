// @ts-check
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Compiles packages/logs/kernel/NAME.ts to packages/logs/src/kernel/NAME-wasm.ts: `npm run kernel`. Beside the sources it
 * writes of what and by what that was made, so that a test sees in no time whether they still belong together.
 */

const SOURCES = new URL('../packages/logs/kernel/', import.meta.url);
const OUTPUTS = new URL('../packages/logs/src/kernel/', import.meta.url);

const FINGERPRINT = 'compiled.json';

const OPTIONS = [
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

/** Module text by the path of the output, for all kernels. */
export async function compileKernels() {
  const { default: asc } = await import('assemblyscript/asc');
  const outputs = new Map();
  for (const name of kernelNames()) {
    const text = moduleText(name, await compile(asc, name));
    outputs.set(new URL(outputOf(name), OUTPUTS).pathname, text);
  }
  return outputs;
}

/** What the last compilation has left for `fingerprintKernels` to be compared with. */
export function readFingerprint() {
  return JSON.parse(readFileSync(new URL(FINGERPRINT, SOURCES), 'utf8'));
}

/** Hashes of all that the kernels are made of, the compiler included, and of what is made. */
export function fingerprintKernels() {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')).packages;
  const hashes = (/** @type {string[]} */ names, /** @type {URL} */ folder) =>
    Object.fromEntries(names.sort().map((name) => [name, hash(readFileSync(new URL(name, folder)))]));
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return {
    compiler: ['assemblyscript', 'binaryen'].map((name) => lock[`node_modules/${name}`].integrity),
    // Its options and what it does with its result.
    script: hash(readFileSync(new URL(import.meta.url))),
    sources: hashes(sources, SOURCES),
    outputs: hashes(kernelNames().map(outputOf), OUTPUTS),
  };
}

function kernelNames() {
  return readdirSync(SOURCES).filter((name) => name.endsWith('.ts'));
}

/** @param {string} name */
function outputOf(name) {
  return name.replace('.ts', '-wasm.ts');
}

/** @param {Buffer} bytes */
function hash(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

/** @param {typeof import('assemblyscript/asc').default} asc @param {string} name */
async function compile(asc, name) {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-kernel-'));
  try {
    const output = join(dir, 'kernel.wasm');
    const { error, stderr } = await asc.main([new URL(name, SOURCES).pathname, '-o', output, ...OPTIONS]);
    if (error) throw new Error(`${name}: ${error.message}\n${stderr}`);
    return readFileSync(output);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Long lines rather than a long file. */
const MOST_LINES = 280;
const LEAST_WIDTH = 110;

/** @param {string} name @param {Buffer} wasm */
function moduleText(name, wasm) {
  const text = wasm.toString('base64');
  const width = Math.max(LEAST_WIDTH, Math.ceil(text.length / MOST_LINES));
  /** @type {string[]} */
  const lines = text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return `// Made by \`npm run kernel\` from packages/logs/kernel/${name}; do not edit.\nexport const WASM_BASE64 = [\n${lines.map((line) => `  '${line}',`).join('\n')}\n].join('');\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const [path, text] of await compileKernels()) writeFileSync(path, text);
  writeFileSync(new URL(FINGERPRINT, SOURCES), `${JSON.stringify(fingerprintKernels(), null, 2)}\n`);
}
