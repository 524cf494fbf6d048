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
import { dirname, join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
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

/** The checks of arguments are for callers without TypeScript; the console is none. */
const CHECKS = /\/client\/src\/check-arguments\.ts$/;
const UNCHECKED = `
  export const checkArguments = () => {};
  export { checkArguments as checkNames, checkArguments as checkOptions, checkArguments as CLIENT_OPTIONS };
  export const invalid = TypeError;
`;

/** The scripts of pages, by how their paths begin; of those that begin alike, the last one counts. */
const PAGES = {
  '/': ['src/pages/overview/overview-page.tsx'],
  '/incidents': ['src/pages/incidents/incidents-page.tsx'],
  '/logs': ['src/pages/logs/logs-page.tsx'],
  '/config': ['src/pages/config/config-page.tsx'],
  '/nodes': ['src/pages/nodes/nodes-page.tsx'],
  '/nodes/': ['src/pages/nodes/node-page.tsx'],
};

/** The licences of what others made and we send along stand here, for those who read the scripts. */
const LICENCES = 'assets/licences.txt';

/** Builds it if anything has changed since the last time; with the page /ui always, into any folder. */
export async function buildConsole({ hasUiPage = process.env.PORTHOLE_CONSOLE_UI === '1', folder = CONSOLE } = {}) {
  const startedMs = Date.now();
  if (!hasUiPage && timeOf(join(folder, STAMP)) > Math.max(...INPUTS.map((path) => newestIn(join(ROOT, path))))) return;
  const [chunks, styles] = await Promise.all([bundleScripts(hasUiPage), bundleStyles()]).catch((error) =>
    fail(`the console cannot be built: ${error.message}`),
  );
  // Made aside and put in place at once: a node or a test beside this never sees half a page.
  const aside = join(ROOT, `node_modules/.porthole-console-${process.pid}`);
  rmSync(aside, { recursive: true, force: true });
  try {
    for (const { fileName, code } of chunks) writeAll(join(aside, fileName), Buffer.from(code));
    for (const { path, contents } of styles.outputFiles) writeAll(path.replace(CONSOLE, aside), contents);
    const sources = [...chunks.flatMap(({ moduleIds }) => moduleIds), ...Object.keys(styles.metafile.inputs)];
    writeAll(join(aside, LICENCES), Buffer.from(licencesOf(sources)));
    const files = styles.outputFiles.map(({ path }) => relative(CONSOLE, path));
    writeAll(join(aside, 'index.html'), Buffer.from(pageWith(chunks, files)));
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

/** One script for what is loaded first, and one for each `import()`, with those that several of these share. */
async function bundleScripts(hasUiPage) {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: { console: join(SOURCE, 'src/start.tsx') },
    cwd: ROOT,
    platform: 'browser',
    tsconfig: join(SOURCE, 'tsconfig.json'),
    transform: { target: 'es2022', define: { 'globalThis.PORTHOLE_CONSOLE_UI': String(hasUiPage) } },
    moduleTypes: { '.css': 'empty' },
    // No module does anything when it is loaded that others could miss.
    treeshake: { moduleSideEffects: false },
    plugins: [{ name: 'unchecked', load: { filter: { id: CHECKS }, handler: () => UNCHECKED } }],
  });
  const { output } = await bundle.generate({
    format: 'esm',
    minify: true,
    comments: false,
    codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] },
    entryFileNames: 'assets/[name]-[hash].js',
    chunkFileNames: 'assets/part-[hash].js',
    hashCharacters: 'base36',
    postBanner: `// licences: /${LICENCES}`,
  });
  await bundle.close();
  return output;
}

/** One style sheet, and the fonts. */
async function bundleStyles() {
  const { build } = await import('esbuild');
  return build({
    entryPoints: { console: join(SOURCE, 'src/style/main.css') },
    outdir: join(CONSOLE, 'assets'),
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.woff2': 'file' },
    bundle: true,
    minify: true,
    target: 'es2022',
    legalComments: 'none',
    // As it is served; escapes of "·" and "→" would be longer.
    charset: 'utf8',
    metafile: true,
    write: false,
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
}

/** The page, which names the files of this build; the node names the scripts that are listed to the browser, before it has read any. */
function pageWith(chunks, files) {
  const entry = chunks.find(({ isEntry }) => isEntry);
  const chunkOf = (source) => chunks.find(({ facadeModuleId }) => facadeModuleId === join(SOURCE, source));
  const scripts = Object.entries(PAGES).map(([path, sources]) => {
    const all = scriptsOf(chunks, [entry, ...sources.map(chunkOf)]);
    return [path, ...all.map(({ fileName }) => fileName.replace('assets/', ''))].join(' ');
  });
  const fonts = files.filter((file) => file.endsWith('.woff2'));
  const tags = [
    `<link rel="stylesheet" href="/${files.find((file) => file.endsWith('.css'))}">`,
    `<meta name="porthole-scripts" content="${scripts.join(';')}">`,
    `<script type="module" src="/${entry.fileName}"></script>`,
    ...fonts.map(
      (font) => `<link rel="preload" as="font" type="font/woff2" fetchpriority="low" crossorigin href="/${font}">`,
    ),
  ];
  const page = readFileSync(join(SOURCE, 'index.html'), 'utf8');
  return page.replace('</head>', `${tags.join('\n')}\n</head>`);
}

/** Scripts, what they import, and what that imports; nothing of what is loaded later. */
function scriptsOf(chunks, roots) {
  const found = new Set(roots);
  // Iterating a set includes what is added meanwhile.
  for (const { imports } of found)
    for (const name of imports) found.add(chunks.find(({ fileName }) => fileName === name));
  return [...found];
}

/** The licences of all packages of others that are in the page. */
function licencesOf(sources) {
  const names = sources.map((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
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
