// @ts-check
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Compiles packages/PACKAGE/kernel/NAME.ts to packages/PACKAGE/src/kernel/NAME-wasm.ts: `npm run kernel`. Beside the
 * sources it writes of what and by what that was made, so that a test sees in no time whether they still belong together.
 */

const PACKAGES = ['logs', 'records'];

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
  for (const folder of PACKAGES) {
    for (const name of kernelNames(folder)) {
      const text = moduleText(folder, name, await compile(asc, folder, name));
      outputs.set(new URL(outputOf(name), outputsOf(folder)).pathname, text);
    }
  }
  return outputs;
}

/** What the last compilation has left for `fingerprintKernels` to be compared with. */
export function readFingerprint() {
  const read = (/** @type {string} */ folder) =>
    JSON.parse(readFileSync(new URL(FINGERPRINT, sourcesOf(folder)), 'utf8'));
  return Object.fromEntries(PACKAGES.map((folder) => [folder, read(folder)]));
}

/** Hashes of all that the kernels are made of, the compiler included, and of what is made, by package. */
export function fingerprintKernels() {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')).packages;
  const hashes = (/** @type {string[]} */ names, /** @type {URL} */ folder) =>
    Object.fromEntries(names.sort().map((name) => [name, hash(readFileSync(new URL(name, folder)))]));
  const fingerprint = (/** @type {string} */ folder) => {
    const sources = readdirSync(sourcesOf(folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    return {
      compiler: ['assemblyscript', 'binaryen'].map((name) => lock[`node_modules/${name}`].integrity),
      // Its options and what it does with its result.
      script: hash(readFileSync(new URL(import.meta.url))),
      sources: hashes(sources, sourcesOf(folder)),
      outputs: hashes(kernelNames(folder).map(outputOf), outputsOf(folder)),
    };
  };
  return Object.fromEntries(PACKAGES.map((folder) => [folder, fingerprint(folder)]));
}

/** @param {string} folder */
function sourcesOf(folder) {
  return new URL(`../packages/${folder}/kernel/`, import.meta.url);
}

/** @param {string} folder */
function outputsOf(folder) {
  return new URL(`../packages/${folder}/src/kernel/`, import.meta.url);
}

/** @param {string} folder */
function kernelNames(folder) {
  return readdirSync(sourcesOf(folder)).filter((name) => name.endsWith('.ts'));
}

/** @param {string} name */
function outputOf(name) {
  return name.replace('.ts', '-wasm.ts');
}

/** @param {Buffer} bytes */
function hash(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

/** @param {typeof import('assemblyscript/asc').default} asc @param {string} folder @param {string} name */
async function compile(asc, folder, name) {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-kernel-'));
  try {
    const output = join(dir, 'kernel.wasm');
    const { error, stderr } = await asc.main([new URL(name, sourcesOf(folder)).pathname, '-o', output, ...OPTIONS]);
    if (error) throw new Error(`${name}: ${error.message}\n${stderr}`);
    return readFileSync(output);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Long lines rather than a long file. */
const MOST_LINES = 280;
const LEAST_WIDTH = 110;

/** @param {string} folder @param {string} name @param {Buffer} wasm */
function moduleText(folder, name, wasm) {
  const text = wasm.toString('base64');
  const width = Math.max(LEAST_WIDTH, Math.ceil(text.length / MOST_LINES));
  /** @type {string[]} */
  const lines = text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return `// Made by \`npm run kernel\` from packages/${folder}/kernel/${name}; do not edit.\nexport const WASM_BASE64 = [\n${lines.map((line) => `  '${line}',`).join('\n')}\n].join('');\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const [path, text] of await compileKernels()) writeFileSync(path, text);
  for (const [folder, fingerprint] of Object.entries(fingerprintKernels()))
    writeFileSync(new URL(FINGERPRINT, sourcesOf(folder)), `${JSON.stringify(fingerprint, null, 2)}\n`);
}
