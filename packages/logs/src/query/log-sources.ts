import { isPattern, matchesPattern } from './match-pattern.ts';

/** A log, or a file, or several by a pattern, on the nodes that are selected or on those that it names. */
export interface LogSource {
  /** Id of a node, or a pattern of ids; empty: the nodes that are selected. */
  node: string;
  /** A log with all its files, or one file. */
  kind: 'family' | 'file';
  /** Its name, or a pattern of names. */
  name: string;
}

/**
 * `FAMILY`, `=FILE`, `NODE/FAMILY`, `NODE/=FILE`; `/FAMILY` without a node for names that have a slash, and a second slash
 * before a family whose name begins with `=` or `/`. Each part may be a pattern. Ids of nodes have no slash.
 */
export function parseLogSource(text: string): LogSource {
  if (text.startsWith('=')) return { node: '', kind: 'file', name: text.slice(1) };
  const slash = text.indexOf('/');
  if (slash < 0) return { node: '', kind: 'family', name: text };
  const node = text.slice(0, slash);
  const name = text.slice(slash + 1);
  if (name.startsWith('=')) return { node, kind: 'file', name: name.slice(1) };
  return { node, kind: 'family', name: name.startsWith('/') ? name.slice(1) : name };
}

export function formatLogSource({ node, kind, name }: LogSource): string {
  if (kind === 'file') return node === '' ? `=${name}` : `${node}/=${name}`;
  if (name.startsWith('=') || name.startsWith('/')) return `${node}//${name}`;
  return node === '' && !name.includes('/') ? name : `${node}/${name}`;
}

/** All files of the log with this name. */
export function familySource(name: string): string {
  return formatLogSource({ node: '', kind: 'family', name });
}

/** The file with this name. */
export function fileSource(name: string): string {
  return formatLogSource({ node: '', kind: 'file', name });
}

/** Which logs a node is asked for, by the texts of a request. One that names a node selects none: it is for a cluster. */
export class LogSources {
  readonly #sources: readonly LogSource[];
  readonly #names: ReadonlySet<string>;
  readonly #patterns: readonly LogSource[];

  /** `isName`: what to take literally; a log may have a name that looks like a pattern. */
  constructor(src: readonly string[] = [], isName = ({ name }: LogSource) => !isPattern(name)) {
    this.#sources = src.map(parseLogSource);
    const own = this.#sources.filter(({ node }) => node === '');
    this.#names = new Set(own.filter(isName).map(sourceKey));
    this.#patterns = own.filter((source) => !isName(source));
  }

  /** Without any text, all logs. */
  get isAll(): boolean {
    return this.#sources.length === 0;
  }

  get list(): readonly LogSource[] {
    return this.#sources;
  }

  /** The one log or file that is named, if there is nothing else. */
  get only(): LogSource | undefined {
    return this.#sources.length === 1 && this.#names.size === 1 ? this.#sources[0] : undefined;
  }

  get hasPatterns(): boolean {
    return this.#patterns.length > 0;
  }

  /** Whether it is selected by its name, not only by a pattern or with all others. */
  names(kind: LogSource['kind'], name: string): boolean {
    return this.#names.has(sourceKey({ kind, name }));
  }

  hasFamily(name: string): boolean {
    return this.isAll || this.#has('family', name);
  }

  /** Whether the file is selected, by itself or with its family. */
  hasFile(name: string, family: string): boolean {
    return this.hasFamily(family) || this.#has('file', name);
  }

  #has(kind: LogSource['kind'], name: string): boolean {
    return (
      this.names(kind, name) ||
      this.#patterns.some((pattern) => pattern.kind === kind && matchesPattern(name, pattern.name))
    );
  }
}

function sourceKey({ kind, name }: Pick<LogSource, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}
