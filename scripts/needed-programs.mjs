import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGES } from './programs.mjs';
import { ROOT } from './steps.mjs';

/** How a module says which programs it starts: `// programs: etcd openssl`, or by looking for them. */
const MARKER = /\/\/ programs: (.+)$/gm;
const LOOKUP = /\bensurePrograms\(\s*\[([^\]]*)\]/g;
const WORD = /[\w-]+/g;
/** Imports of values: those of types load nothing. */
const IMPORT = /^(?:import|export)\s(?!type\s)[^;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gms;

/** The programs that test files start, themselves or by what they import: those of each file. */
export function neededPrograms(files) {
  const paths = JSON.parse(readFileSync(join(ROOT, 'tsconfig.check.json'), 'utf8')).compilerOptions.paths;
  const modules = new Map();
  return new Map(files.map((file) => [file, [...collect(join(ROOT, file), new Set())].sort()]));

  function collect(path, seen) {
    const names = new Set();
    const waiting = [path];
    for (const next of waiting) {
      if (seen.has(next)) continue;
      seen.add(next);
      const module = read(next);
      for (const name of module.programs) names.add(name);
      waiting.push(...module.imports);
    }
    return names;
  }

  function read(path) {
    const known = modules.get(path);
    if (known !== undefined) return known;
    const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const lists = [...source.matchAll(MARKER), ...source.matchAll(LOOKUP)];
    const programs = lists
      .flatMap(([, list]) => list.match(WORD) ?? [])
      .filter((name) => Object.hasOwn(PACKAGES, name));
    const imports = [...source.matchAll(IMPORT)].flatMap(([, from, dynamic]) => resolve(from ?? dynamic, path));
    const module = { programs, imports };
    modules.set(path, module);
    return module;
  }

  function resolve(target, from) {
    if (target.startsWith('.')) return [join(dirname(from), target)];
    return (paths[target] ?? []).map((path) => join(ROOT, path));
  }
}
