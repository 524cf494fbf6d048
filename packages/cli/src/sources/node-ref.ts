/** The parsed form of `broker-1:lind-broker.log`. */
export interface NodeRef {
  /** A member id, or a pattern with `*` and `?`. */
  node: string;
  /** `undefined`: all its logs. */
  file: string | undefined;
  /** The matching members, at least one. */
  ids: readonly string[];
}

/**
 * Parses `NODE:FILE`, `NODE:` or an id that contains a colon. Ids and file names may both contain colons: the longest prefix
 * that names a member wins. `undefined` if no prefix does.
 */
export function parseNodeRef(word: string, members: readonly string[]): NodeRef | undefined {
  for (let end = word.length; end > 0; end = word.lastIndexOf(':', end - 1)) {
    const node = word.slice(0, end);
    const ids = node.includes(':') || end < word.length ? matchIds(node, members) : [];
    if (ids.length > 0) return { node, file: word.slice(end + 1) || undefined, ids };
  }
  return undefined;
}

/** The ids that match a pattern with `*` and `?`. */
export function matchIds(pattern: string, ids: readonly string[]): string[] {
  const source = pattern.replace(/[.*+?^${}()|[\]\\]/g, (sign) => WILDCARDS[sign] ?? `\\${sign}`);
  const expression = new RegExp(`^${source}$`, 's');
  return ids.filter((id) => expression.test(id));
}

const WILDCARDS: Readonly<Record<string, string>> = { '*': '.*', '?': '.' };
