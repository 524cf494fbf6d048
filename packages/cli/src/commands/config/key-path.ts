/** Names of tables and keys, and indices into arrays of tables. */
export type KeyPath = readonly (string | number)[];

const PART = /(?:^|\.)(?:([\w-]+)|("(?:[^"\\]|\\.)*"))|\[(\d+)\]/y;

/** Parses `servers[0]."host name".port`; `undefined` if it is not a key path. */
export function parseKeyPath(text: string): KeyPath | undefined {
  const path: (string | number)[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const [, bare, quoted, index] = PART.exec(text) ?? [];
    const part = bare ?? (index === undefined ? unquote(quoted) : Number(index));
    if (part === undefined) return undefined;
    path.push(part);
  }
  return path.length > 0 ? path : undefined;
}

/** Whether the path equals the other one or is below it. */
export function isWithin(path: KeyPath, outer: KeyPath): boolean {
  return outer.length <= path.length && outer.every((part, index) => part === path[index]);
}

function unquote(quoted: string | undefined): string | undefined {
  if (quoted === undefined) return undefined;
  try {
    return String(JSON.parse(quoted));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
