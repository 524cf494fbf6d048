import type { TomlToken } from './toml-tokens.ts';

const NAME = /"(?:[^"\\]|\\.)*"|'[^']*'|[^\s."']+/g;

/** Which table is open while lines are read from the top, and so the whole path of each key. */
export class TableNames {
  #table = '';
  /** How many elements an array of tables has so far. */
  readonly #arrays = new Map<string, number>();

  /** The path of the setting that begins in the line of these parts; a header only opens its table. */
  lineKey(tokens: readonly TomlToken[]): string | null {
    const first = tokens.findIndex(({ kind }) => kind !== 'space');
    const table = tokens.find(({ kind }) => kind === 'table');
    if (table !== undefined) this.#openTable(table.text, tokens[first]?.text === '[[');
    if (tokens[first]?.kind !== 'key') return null;
    const end = tokens.findIndex(({ kind, text }) => kind === 'mark' && text === '=');
    if (end === -1) return null;
    const names = namesIn(
      tokens
        .slice(first, end)
        .map(({ text }) => text)
        .join(''),
    );
    return names.reduce(join, this.#table);
  }

  #openTable(name: string, isElement: boolean): void {
    const names = namesIn(name);
    let path = '';
    for (const [place, part] of names.entries()) {
      path = join(path, part);
      const isLast = place === names.length - 1;
      if (isLast && isElement) this.#arrays.set(path, (this.#arrays.get(path) ?? 0) + 1);
      const count = this.#arrays.get(path);
      if (count !== undefined) path += `[${count - 1}]`;
    }
    this.#table = path;
  }
}

function namesIn(text: string): string[] {
  return (text.match(NAME) ?? []).map(plainName);
}

function plainName(name: string): string {
  if (name.startsWith("'")) return name.slice(1, -1);
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    // An escape that only TOML knows: no setting will be found under it, which only costs its mark.
    return name.slice(1, -1);
  }
}

/** As settings are named: what is no bare key is quoted. */
function join(path: string, name: string): string {
  return `${path}${path === '' ? '' : '.'}${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}`;
}
