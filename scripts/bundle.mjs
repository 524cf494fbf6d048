import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, SourceMap } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { commonJs } from './bundle-commonjs.mjs';
import { bundleWorkers, SCAN_WORKER } from './bundle-workers.mjs';
import { CONSOLE } from './console.mjs';
import { directImports } from './direct-imports.mjs';
import { ROOT } from './steps.mjs';

/* Makes the two published packages: each bundles the built files of the packages it needs, so that it depends on none of ours. */

const PACKAGES = ['records', 'logs', 'contract', 'client', 'cluster', 'archive', 'server', 'cli'].map((name) =>
  join(ROOT, 'packages', name),
);

/** What users of a package import and where that is built; what is bundled although others made it; what else goes along. */
const BUNDLES = [
  {
    name: 'client',
    platform: 'neutral',
    // Nodes ask each other by the second one.
    entries: { index: 'client/dist/index.js', member: 'client/dist/member.js' },
    types: { index: 'client/dist/index.d.ts', member: 'client/dist/member.d.ts' },
    inside: ['eventsource-parser'],
    files: {},
  },
  {
    name: 'cli',
    platform: 'node',
    // Threads find their code beside the code that starts them.
    entries: {
      main: 'cli/dist/main.js',
      index: 'server/dist/index.js',
      pino: 'server/dist/service-log/pino.js',
      winston: 'server/dist/service-log/winston.js',
      'config-worker': 'server/dist/config/config-worker.js',
    },
    types: {
      index: 'server/dist/index.d.ts',
      pino: 'server/dist/service-log/pino.d.ts',
      winston: 'server/dist/service-log/winston.d.ts',
    },
    inside: [
      'eventsource-parser',
      // One of these has a script that would run at installation, which package managers ask their users about.
      '@grpc/grpc-js',
      '@grpc/proto-loader',
      '@grpc/reflection',
      'grpc-health-check',
      '@js-sdsl/ordered-map',
      'lodash.camelcase',
      'long',
      'protobufjs',
      '@protobufjs/aspromise',
      '@protobufjs/base64',
      '@protobufjs/codegen',
      '@protobufjs/eventemitter',
      '@protobufjs/fetch',
      '@protobufjs/float',
      '@protobufjs/path',
      '@protobufjs/pool',
      '@protobufjs/utf8',
      '@grafana/lezer-logql',
      '@lezer/common',
      '@lezer/lr',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/core',
      'zod',
    ],
    files: { proto: 'proto/porthole', 'worker.cjs': relative(ROOT, SCAN_WORKER) },
  },
];

/** Where the program finds the page: beside its code. */
const CONSOLE_COPY = join(ROOT, 'packages/cli/lib/console');

/** Bundles what has changed since the last time. */
export async function bundle() {
  await bundleWorkers();
  await bundleCode();
  copyConsole();
}

async function bundleCode() {
  const newest = Math.max(
    ...PACKAGES.map((path) => timeOf(join(path, 'dist/.tsbuildinfo'))),
    ...['bundle.mjs', 'bundle-commonjs.mjs', 'direct-imports.mjs'].map((name) => timeOf(join(ROOT, 'scripts', name))),
  );
  const stale = BUNDLES.filter(({ name }) => timeOf(stampOf(name)) < newest);
  if (stale.length === 0) return;
  const { build } = createRequire(import.meta.url)('esbuild');
  for (const { name, platform, entries, types, inside, files } of stale) {
    const outdir = join(ROOT, 'packages', name, 'lib');
    // Made aside, then moved file by file: programs that run from here meanwhile find all of theirs.
    const aside = `${outdir}-${process.pid}`;
    const { outputFiles } = await build({
      entryPoints: Object.fromEntries(
        Object.entries(entries).map(([out, file]) => [out, join(ROOT, 'packages', file)]),
      ),
      outdir,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform,
      target: 'es2022',
      // The manifest beside a program that bundles this one is that of the program.
      define: { PORTHOLE_VERSION: JSON.stringify(versionOf(name)) },
      // Our own packages by their built files, the packages of others stay where they are installed.
      plugins: [
        commonJs,
        { name: 'ours', setup: (made) => resolveOurs(made, inside) },
        directImports((name) => builtFile(name, 'default')),
      ],
      legalComments: 'inline',
      sourcemap: 'external',
      write: false,
      // Names of files hold a hash of paths relative to this: the same wherever the build is started from.
      absWorkingDir: ROOT,
      logLevel: 'warning',
    });
    for (const { path, contents } of outputFiles)
      if (!path.endsWith('.map')) write(join(aside, relative(outdir, path)), contents);
    if (platform === 'node') write(join(aside, 'places.json'), JSON.stringify(placesOf(outputFiles)));
    copyTypes(types, aside);
    for (const other of inside) cpSync(licenceOf(other), join(aside, `${other.replace('/', '+')}.LICENSE`));
    for (const [to, from] of Object.entries(files)) cpSync(join(ROOT, from), join(aside, to), { recursive: true });
    cpSync(join(ROOT, 'LICENSE'), join(ROOT, 'packages', name, 'LICENSE'));
    writeFileSync(join(aside, basename(stampOf(name))), '');
    replaceFiles(aside, outdir);
  }
}

/** The text of a licence. One that is ours, too, need not be in the package of others. */
function licenceOf(other) {
  const folder = join(ROOT, 'node_modules', other);
  const text = join(folder, 'LICENSE');
  if (existsSync(text)) return text;
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (license !== 'Apache-2.0') throw new Error(`${other} has no text of its licence`);
  return join(ROOT, 'LICENSE');
}

/** Moves all files of a folder into another one, and then removes what it had besides them and the page. */
function replaceFiles(from, to) {
  const list = (folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  mkdirSync(to, { recursive: true });
  const before = list(to);
  const made = new Set(list(from));
  for (const path of made) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    renameSync(join(from, path), join(to, path));
  }
  for (const path of before)
    if (!made.has(path) && !path.startsWith('console')) rmSync(join(to, path), { force: true });
  rmSync(from, { recursive: true });
}

/** The page names its files by their content: where it is the same, so is all the rest. */
function copyConsole() {
  const textOf = (folder) => existsSync(folder) && readFileSync(join(folder, 'index.html'), 'utf8');
  if (textOf(CONSOLE_COPY) === textOf(CONSOLE)) return;
  const aside = `${CONSOLE_COPY}-${process.pid}`;
  cpSync(CONSOLE, aside, { recursive: true, filter: (path) => basename(path) !== '.stamp' });
  rmSync(CONSOLE_COPY, { recursive: true, force: true });
  renameSync(aside, CONSOLE_COPY);
}

function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}

/** Where log calls in the bundle really are: the own log names positions in the code, and those of a bundle mean nothing. */
function placesOf(outputFiles) {
  const places = {};
  for (const { path, text } of outputFiles.filter((file) => file.path.endsWith('.js'))) {
    const map = new SourceMap(JSON.parse(outputFiles.find((file) => file.path === `${path}.map`).text));
    for (const [line, code] of text.split('\n').entries()) {
      const call = /\.(debug|info|warn|error)\(/.exec(code);
      const { originalSource, originalLine } = call ? map.findEntry(line, call.index + 1) : {};
      if (originalSource === undefined) continue;
      places[`${basename(path)}:${line + 1}`] = `${originalSource.replaceAll('\\', '/')}:${originalLine + 1}`;
    }
  }
  return places;
}

function stampOf(name) {
  return join(ROOT, 'packages', name, 'lib/.stamp');
}

function timeOf(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

/** A bare import is of ours, or of something to be bundled, or is left as it is. */
function resolveOurs(made, inside) {
  made.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
    if (kind === 'entry-point') return undefined;
    const file = builtFile(path, 'default');
    if (file !== undefined) return { path: file, sideEffects: false };
    return inside.some((other) => path === other || path.startsWith(`${other}/`))
      ? undefined
      : { path, external: true };
  });
}

/** Where a package of ours exports this import from; the client too is taken apart from its bundle. */
function builtFile(specifier, condition) {
  const [, name, sub = ''] = /^@porthole\/([a-z]+)(\/.*)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const path = join(ROOT, 'packages', name);
  const { exports } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const file = exports[`.${sub}`][condition];
  return join(path, (file.import ?? file).replace('./lib/', './dist/'));
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8')).version;
}

/**
 * Copies the declarations reached from the entries, each under its package, with imports that lead from file to file. They
 * are marked as CommonJS, which both kinds of modules may import; an entry with a default export, which they would see
 * differently, is copied as it is.
 */
function copyTypes(entries, outdir) {
  const files = Object.entries(entries).map(([name, file]) => [name, join(ROOT, 'packages', file)]);
  const whole = new Map(
    files
      .filter(([, file]) => /^export default /m.test(readFileSync(file, 'utf8')))
      .map(([name, file]) => [file, join(outdir, `${name}.d.ts`)]),
  );
  const waiting = files.map(([, file]) => file);
  const known = new Set(waiting);
  const targetOf = (file) =>
    whole.get(file) ?? join(outdir, 'types', relative(join(ROOT, 'packages'), file).replace('/dist/', '/'));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const target = targetOf(file);
    const text = readFileSync(file, 'utf8').replace(
      /(from |import\()(['"])([^'"]+)\2/g,
      (given, before, quote, path) => {
        const found = path.startsWith('.')
          ? join(dirname(file), path.replace(/\.(js|ts)$/, '.d.ts'))
          : builtFile(path, 'types');
        if (found === undefined) return isModule(path) ? `${given} with { 'resolution-mode': 'import' }` : given;
        if (!known.has(found)) waiting.push(found);
        known.add(found);
        return `${before}${quote}./${relative(dirname(target), targetOf(found)).replace(/\.d\.ts$/, '.js')}${quote}`;
      },
    );
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replace(/\n?\/\/# sourceMappingURL=.*\n?$/, '\n'));
  }
  writeFileSync(join(outdir, 'types/package.json'), '{ "type": "commonjs" }\n');
  for (const [name, file] of files.filter(([, path]) => !whole.has(path))) {
    const text = `export * from './${relative(outdir, targetOf(file)).replace(/\.d\.ts$/, '.js')}';\n`;
    for (const extension of ['d.ts', 'd.cts']) writeFileSync(join(outdir, `${name}.${extension}`), text);
  }
}

/** Whether a package of others can only be imported, which declarations of CommonJS have to say. */
function isModule(name) {
  const manifest = join(ROOT, 'node_modules', name, 'package.json');
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).type === 'module';
}
