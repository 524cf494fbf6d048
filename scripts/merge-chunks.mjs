import { basename } from 'node:path';

/*
 * The bundler makes a chunk for every set of entry points and dynamic imports that share code: about fifty for one command,
 * most of them tiny, and loading a file takes almost a millisecond. Chunks that the same important files load are merged:
 * these load the same code as before, in fewer files.
 */

/** An import from another output, as the bundler writes it; names may be on several lines. */
const IMPORT = /^(import|export) (?:\{([^}]*)\} from )?"\.\/([\w-]+\.js)";$/gm;

/** The exports of an output. */
const EXPORTS = /^export \{([^}]*)\};$/gm;

/**
 * Merges chunks of a build. `outputFiles` are its outputs in memory, with their maps, and so is the result. `isImportant`
 * selects, by name, the files that must not load more; of these, `isFast` those that should load fewer files. `options` are those
 * of the build.
 */
export async function mergeChunks(build, outputFiles, { isImportant, isFast, options }) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const names = [...texts.keys()].filter((name) => name.endsWith('.js'));
  const importsOf = (name) => [...texts.get(name).matchAll(IMPORT)].map(([, , , imported]) => imported);
  const made = [];
  /** Where the exports of a chunk are now, and what their names start with there. */
  const moved = new Map();
  for (const group of groupChunks(names, importsOf, { isImportant, isFast })) {
    const entry = group.map((name, index) => exportAll(name, prefixOf(index), texts.get(name))).join('');
    const { outputFiles: parts } = await build({
      ...options,
      stdin: { contents: entry, resolveDir: options.outdir },
      entryPoints: undefined,
      entryNames: 'chunk-[hash]',
      splitting: false,
      plugins: [{ name: 'group', setup: (pass) => loadGroup(pass, new Set(group), { texts, outdir: options.outdir }) }],
    });
    const file = basename(parts.find(({ path }) => path.endsWith('.js')).path);
    for (const [index, name] of group.entries()) moved.set(name, { file, prefix: prefixOf(index) });
    made.push(...parts);
  }
  const kept = outputFiles.filter(({ path }) => !moved.has(basename(path).replace(/\.map$/, '')));
  return [...kept, ...made].map(({ path, text }) => {
    const renamed = path.endsWith('.js') ? renameImports(text, moved) : text;
    return { path, text: renamed, contents: Buffer.from(renamed) };
  });
}

/** Groups of chunks that the same important files reach by static imports. What a chunk imports is reached by no fewer. */
function groupChunks(names, importsOf, { isImportant, isFast }) {
  const reachedBy = new Map(names.map((name) => [name, '']));
  for (const root of names.filter(isImportant)) {
    const waiting = [root];
    const seen = new Set();
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (seen.has(name)) continue;
      seen.add(name);
      reachedBy.set(name, `${reachedBy.get(name)} ${root}`);
      waiting.push(...importsOf(name));
    }
  }
  const groups = new Map();
  // What only others load stays apart: commands that need a part of it should not load all.
  for (const [name, roots] of reachedBy)
    if (name.startsWith('chunk-') && roots.split(' ').some(isFast))
      groups.set(roots, [...(groups.get(roots) ?? []), name]);
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** Exports of different chunks may have the same name. */
function prefixOf(index) {
  return `m${index}_`;
}

function exportAll(name, prefix, text) {
  const exported = [...text.matchAll(EXPORTS)].flatMap(([, list]) => specifiers(list).map(({ as }) => as));
  return `export { ${exported.map((each) => `${each} as ${prefix}${each}`).join(', ')} } from "./${name}";\n`;
}

/** `a` and `a as b`. */
function specifiers(list) {
  const words = list.split(',').map((part) => part.trim().split(/\s+as\s+/));
  return words.filter(([name]) => name !== '').map(([name, as = name]) => ({ name, as }));
}

/** Chunks of the group come from memory, with their maps; all others stay imports. */
function loadGroup(pass, group, { texts, outdir }) {
  pass.onResolve({ filter: /./ }, ({ path, kind }) => {
    const isInside = kind === 'import-statement' && group.has(basename(path));
    return isInside ? { path: `${outdir}/${basename(path)}` } : { path, external: true };
  });
  pass.onLoad({ filter: /./ }, ({ path }) => {
    const map = Buffer.from(texts.get(`${basename(path)}.map`)).toString('base64');
    const contents = `${texts.get(basename(path))}\n//# sourceMappingURL=data:application/json;base64,${map}`;
    return { contents, loader: 'js' };
  });
}

/** Keeps the number of lines: maps refer to them. */
function renameImports(text, moved) {
  return text.replaceAll(IMPORT, (whole, keyword, list, name) => {
    const { file, prefix } = moved.get(name) ?? {};
    if (file === undefined) return whole;
    if (list === undefined) return `import "./${file}";`;
    const renamed = list.replaceAll(
      /([\w$]+)(?:\s+as\s+([\w$]+))?/g,
      (_, each, as = each) => `${prefix}${each} as ${as}`,
    );
    return `${keyword} {${renamed}} from "./${file}";`;
  });
}
