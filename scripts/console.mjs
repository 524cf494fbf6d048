import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { directImports } from './direct-imports.mjs';
import { fail, ROOT } from './steps.mjs';

/*
 * Makes the page: one script, one for each part that is loaded when it is needed, one style sheet; each as it is and
 * compressed; and the fonts. With PORTHOLE_CONSOLE_UI=1 it has the page /ui, which shows every component.
 */

const SOURCE = join(ROOT, 'packages/console');
const STAMP = '.stamp';

/** What is made here. Names of scripts and styles change with their content, and the page names them. */
export const CONSOLE = join(SOURCE, 'web');

/** What the page is made of. The lockfile stands for the packages of others. */
const INPUTS = [
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/tsconfig.json',
  'packages/client/src',
  'packages/contract/src',
  'packages/records/src',
  'packages/logs/src/query',
  'packages/logs/src/shared.ts',
  'package-lock.json',
  'scripts/console.mjs',
];

/** The checks of arguments for callers without TypeScript: the console has none. */
const UNCHECKED = `
  export const checkArguments = () => {};
  export { checkArguments as checkNames, checkArguments as checkOptions, checkArguments as CLIENT_OPTIONS };
  export const invalid = TypeError;
`;

/** Scripts that are loaded later, and one that is always there by then. */
const LOADED_AFTER = [
  [
    /\/console\/src\/(pages\/logs\/(around-rows|opened-later|completions)|log-view\/(workspace\/(finder|text-matcher)|source\/(chosen|merged)-source))\./,
    'src/pages/logs/logs-page.tsx',
  ],
  [
    /\/console\/src\/(shell\/opened-later|config\/line-diff|state\/cli-command|pages\/(ui|overview|incidents|logs|config|nodes)\/[a-z]+-page)\./,
    'src/start.tsx',
  ],
  [/\/client\/src\/(read-records|remote-log|search-batches|follow\/event-stream)\./, 'src/start.tsx'],
];

/** Loaded with what is around the rows of logs: these may be followed when their node no longer responds. */
const FOLLOWING = '../client/src/follow/event-stream.ts';

/**
 * Small sources that several pages need: with the first script, because each script of its own is one more request
 * before anything is shown.
 */
const WITH_FIRST = ['src/log-view/rows/record-row.tsx', 'src/log-view/rows/record-text.ts', 'src/state/read-search.ts'];

/** The scripts of pages, by how their paths begin; of those that begin alike, the last one counts. */
const PAGES = {
  '/': ['src/pages/overview/overview-page.tsx'],
  '/incidents': ['src/pages/incidents/incidents-page.tsx'],
  '/logs': ['src/pages/logs/logs-page.tsx'],
  '/logs?src': ['src/pages/logs/logs-page.tsx', 'src/log-view/source/chosen-source.ts'],
  '/config': ['src/pages/config/config-page.tsx'],
  '/nodes': ['src/pages/nodes/nodes-page.tsx'],
  '/nodes/': ['src/pages/nodes/node-page.tsx'],
};

/** Where the sources of our packages are, as the compiler finds them. */
const PATHS = JSON.parse(readFileSync(join(SOURCE, 'tsconfig.json'), 'utf8')).compilerOptions.paths;

/** The licences of what others made and we send along stand here, for those who read the scripts. */
const LICENCES = 'assets/licences.txt';

/** Builds it if anything has changed since the last time; with the page /ui always, into any folder. */
export async function buildConsole({ hasUiPage = process.env.PORTHOLE_CONSOLE_UI === '1', folder = CONSOLE } = {}) {
  const startedMs = Date.now();
  if (!hasUiPage && timeOf(join(folder, STAMP)) > Math.max(...INPUTS.map((path) => newestIn(join(ROOT, path))))) return;
  const bundle = await bundlePage(hasUiPage).catch(() => fail('the console cannot be built')); // esbuild said why
  const { metafile, outputFiles } = bundle;
  // Made aside and put in place at once: a node or a test beside this never sees half a page.
  const aside = join(ROOT, `node_modules/.porthole-console-${process.pid}`);
  rmSync(aside, { recursive: true, force: true });
  try {
    for (const { path, contents } of outputFiles) writeAll(path.replace(CONSOLE, aside), contents);
    writeAll(join(aside, LICENCES), Buffer.from(licencesOf(metafile)));
    writeAll(join(aside, 'index.html'), Buffer.from(pageWith(metafile)));
    writeFileSync(join(aside, STAMP), '');
    // What is changed while this runs counts as changed after it.
    utimesSync(join(aside, STAMP), startedMs / 1000, startedMs / 1000);
    rmSync(folder, { recursive: true, force: true });
    if (folder === CONSOLE) renameSync(aside, folder);
    else cpSync(aside, folder, { recursive: true }); // perhaps on another file system
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function bundlePage(hasUiPage) {
  const { build } = createRequire(import.meta.url)('esbuild');
  return build({
    entryPoints: { console: join(SOURCE, 'src/start.tsx') },
    outdir: join(CONSOLE, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.woff2': 'file' },
    define: { 'globalThis.PORTHOLE_CONSOLE_UI': String(hasUiPage) },
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
    // As it is served; escapes of "·" and "→" would be longer.
    charset: 'utf8',
    banner: { js: `// licences: /${LICENCES}` },
    plugins: [directImports(indexOf, finishSource)],
    metafile: true,
    write: false,
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
}

/** The index of a package of ours, in its source. */
function indexOf(specifier) {
  const [path] = PATHS[specifier] ?? [];
  return path && join(SOURCE, path);
}

/**
 * Lets a script that is loaded later import the one it is always loaded after: what both need is then in that one, instead
 * of in a script for every set of scripts that share a part of it.
 */
function finishSource(path, text) {
  if (path.endsWith('/client/src/check-arguments.ts')) return UNCHECKED;
  // Names of gRPC statuses, which no browser receives.
  if (path.endsWith('/contract/src/errors/errors.ts')) return text.replace(/\bgrpc: '[A-Z_]+',? ?/g, '');
  if (path.endsWith('/console/src/start.tsx')) return text + WITH_FIRST.map(exportAll).join('');
  const [, before] = LOADED_AFTER.find(([later]) => later.test(path)) ?? [];
  const following = path.endsWith('/around-rows.ts') ? exportAll(FOLLOWING) : '';
  return before ? `${text}\nimport ${JSON.stringify(join(SOURCE, before))};\n${following}` : text;
}

/** As an export: an import of nothing would be left out. */
function exportAll(source) {
  return `\nexport * from ${JSON.stringify(join(SOURCE, source))};\n`;
}

/** The page, which names the files of this build; the node names the scripts that are listed to the browser, before it has read any. */
function pageWith({ outputs }) {
  const urlOf = (path) => path.slice(path.indexOf('web/') + 'web'.length);
  const outputOf = (source) => Object.keys(outputs).find((path) => outputs[path].entryPoint?.endsWith(source));
  const entry = outputOf('src/start.tsx');
  const always = scriptsOf(outputs, entry);
  const fonts = Object.keys(outputs).filter((output) => output.endsWith('.woff2'));
  const scripts = Object.entries(PAGES).map(([path, sources]) => {
    const all = new Set([...always, ...sources.flatMap((source) => scriptsOf(outputs, outputOf(source)))]);
    return [path, ...[...all].map((script) => urlOf(script).replace('/assets/', ''))].join(' ');
  });
  const tags = [
    `<link rel="stylesheet" href="${urlOf(outputs[entry].cssBundle)}">`,
    `<meta name="porthole-scripts" content="${scripts.join(';')}">`,
    `<script type="module" src="${urlOf(entry)}"></script>`,
    ...fonts.map(
      (font) =>
        `<link rel="preload" as="font" type="font/woff2" fetchpriority="low" crossorigin href="${urlOf(font)}">`,
    ),
  ];
  const page = readFileSync(join(SOURCE, 'index.html'), 'utf8');
  return page.replace('</head>', `${tags.join('\n')}\n</head>`);
}

/** A script, what it imports, and what that imports; nothing of what is loaded later. */
function scriptsOf(outputs, start) {
  const found = new Set([start]);
  // Iterating a set includes what is added meanwhile.
  for (const path of found)
    for (const { kind, path: part } of outputs[path].imports) if (kind === 'import-statement') found.add(part);
  return [...found];
}

/** The licences of all packages of others that are in the page. */
function licencesOf({ inputs }) {
  const names = Object.keys(inputs).map((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const others = [...new Set(names.filter(Boolean))].sort();
  return others
    .map((name) => `${name}\n\n${readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8')}`)
    .join('\n\n');
}

/** Compressed too, where that is smaller. */
function writeAll(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
  const encoded = {
    gz: gzipSync(contents, { level: constants.Z_BEST_COMPRESSION }),
    br: brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
  };
  for (const [ending, bytes] of Object.entries(encoded))
    if (bytes.length < contents.length) writeFileSync(`${path}.${ending}`, bytes);
}

/** Folders count as well: they change when something is taken out of them. */
function newestIn(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

function timeOf(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}
