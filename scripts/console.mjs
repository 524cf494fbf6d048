import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ROOT } from './steps.mjs';

/* Makes the page: one script for the start, one for each part that is loaded when it is needed, one style sheet; each as it is and compressed. */

const SOURCE = join(ROOT, 'packages/console');
const OUT = join(SOURCE, 'web');
const STAMP = join(OUT, '.stamp');

/** What the page is made of, beside its own source. */
const INPUTS = ['packages/console', 'packages/client/src', 'packages/contract/src', 'scripts/console.mjs'];

/** Builds it if anything has changed since the last time. */
export async function buildConsole() {
  if (existsSync(STAMP) && statSync(STAMP).mtimeMs > Math.max(...INPUTS.map((path) => newestIn(join(ROOT, path)))))
    return;
  const { build } = createRequire(import.meta.url)('esbuild');
  rmSync(OUT, { recursive: true, force: true });
  const { metafile, outputFiles } = await build({
    entryPoints: { console: join(SOURCE, 'src/main.tsx') },
    outdir: join(OUT, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: join(SOURCE, 'tsconfig.json'),
    legalComments: 'none',
    metafile: true,
    write: false,
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
  for (const { path, contents } of outputFiles) writeAll(path, contents);
  writeAll(join(OUT, 'index.html'), Buffer.from(pageWith(metafile)));
  writeFileSync(STAMP, '');
}

/** The page, which names the files of this build; what the script needs at once is fetched beside it. */
function pageWith({ outputs }) {
  const urlOf = (path) => path.slice(path.indexOf('web/') + 'web'.length);
  const [path, entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('main.tsx'));
  const needed = entry.imports.filter(({ kind }) => kind === 'import-statement');
  const tags = [
    entry.cssBundle && `<link rel="stylesheet" href="${urlOf(entry.cssBundle)}">`,
    ...needed.map((part) => `<link rel="modulepreload" href="${urlOf(part.path)}">`),
    `<script type="module" src="${urlOf(path)}"></script>`,
  ];
  return readFileSync(join(SOURCE, 'index.html'), 'utf8').replace(
    '</head>',
    `${tags.filter(Boolean).join('\n')}\n</head>`,
  );
}

function writeAll(path, contents) {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, contents);
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}

function newestIn(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(
    stat.mtimeMs,
    ...readdirSync(path)
      .filter((name) => name !== 'web' && name !== 'node_modules')
      .map((name) => newestIn(join(path, name))),
  );
}
