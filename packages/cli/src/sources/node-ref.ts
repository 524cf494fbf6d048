/** What a word like `broker-1:lind-broker.log` names. */
export interface NodeRef {
  /** The id of a member, or a pattern with `*` and `?`. */
  node: string;
  /** `undefined`: all its logs. */
  file: string | undefined;
  /** The members that are meant, at least one. */
  ids: readonly string[];
}

/**
 * Takes `NODE:FILE`, `NODE:` or an id with a colon in it apart. Ids and names of files may both hold colons: the longest
 * beginning that names a member counts. `undefined` where no beginning does.
 */
export function parseNodeRef(word: string, members: readonly string[]): NodeRef | undefined {
  for (let end = word.length; end > 0; end = word.lastIndexOf(':', end - 1)) {
    const node = word.slice(0, end);
    const ids = node.includes(':') || end < word.length ? matchIds(node, members) : [];
    if (ids.length > 0) return { node, file: word.slice(end + 1) || undefined, ids };
  }
  return undefined;
}

/** The ids that a pattern means; one without `*` and `?` means itself. */
export function matchIds(pattern: string, ids: readonly string[]): string[] {
  const source = pattern.replace(/[.*+?^${}()|[\]\\]/g, (sign) => WILDCARDS[sign] ?? `\\${sign}`);
  const expression = new RegExp(`^${source}$`, 's');
  return ids.filter((id) => expression.test(id));
}

const WILDCARDS: Readonly<Record<string, string>> = { '*': '.*', '?': '.' };
