import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/*
 * The bundler assigns whole files to chunks, and whoever imports one name from the index of a package reaches all files
 * of that package: `porthole --help` loaded the OpenAPI document, and every thread what only others need. So imports
 * from an index are replaced by imports from the files in which the names are defined.
 */

/** An import or export of names from another file, as we and the compiler write it; names may be on several lines. */
const NAMED = /^(import|export) \{([^}]*)\} from '([^']+)';$/gm;

/** A plugin for esbuild. `findIndex` finds the index of a package of ours by its name, `undefined` for those of others. */
export function directImports(findIndex) {
  /** Where each name that an index exports is defined, by the path of the index. */
  const indexes = new Map();

  const resolve = (from, specifier) =>
    specifier.startsWith('.') ? join(dirname(from), specifier) : findIndex(specifier);

  const namesIn = (index) => {
    const known = indexes.get(index);
    if (known) return known;
    const names = new Map();
    for (const [, keyword, list, specifier] of readFileSync(index, 'utf8').matchAll(NAMED)) {
      const file = keyword === 'export' ? resolve(index, specifier) : undefined;
      if (file !== undefined) for (const { name, as } of specifiers(list)) names.set(as, definitionOf(file, name));
    }
    indexes.set(index, names);
    return names;
  };

  const definitionOf = (file, name) => (isIndex(file) && namesIn(file).get(name)) || { file, name };

  const rewrite = (path, text) =>
    text.replaceAll(NAMED, (whole, keyword, list, specifier) => {
      const index = resolve(path, specifier);
      if (index === undefined || !isIndex(index)) return whole;
      const direct = specifiers(list).map(({ name, as }) => {
        const found = definitionOf(index, name);
        return `${keyword} { ${found.name} as ${as} } from '${pathTo(path, found.file)}';`;
      });
      // Keeps the number of lines: maps refer to them.
      return direct.join(' ') + '\n'.repeat(whole.split('\n').length - 1);
    });

  return {
    name: 'direct-imports',
    setup(made) {
      made.onLoad({ filter: /\/packages\/\w+\/dist\/.*\.js$/ }, ({ path }) => ({
        contents: rewrite(path, readFileSync(path, 'utf8')),
        loader: 'js',
      }));
    },
  };
}

function isIndex(path) {
  return /\/index\.js$/.test(path);
}

/** `a` and `a as b`; types are not loaded. */
function specifiers(list) {
  const words = list.split(',').map((part) => part.trim().split(/\s+as\s+/));
  return words.filter(([name]) => name !== '' && !name.startsWith('type ')).map(([name, as = name]) => ({ name, as }));
}

function pathTo(from, file) {
  const path = relative(dirname(from), file);
  return path.startsWith('.') ? path : `./${path}`;
}
