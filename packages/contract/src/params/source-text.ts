/** Some or all logs of a member, or of those that match a pattern. */
export interface LogSourceText {
  /** Id of a member, or a pattern with `*` and `?`. */
  node: string;
  /** `null`: all its logs. */
  log: { kind: 'family' | 'file'; name: string } | null;
}

/** `NODE`, `NODE/FAMILY`, `NODE/=FILE`; a family whose name begins with `=` has a second slash before it. */
export function parseSourceText(text: string): LogSourceText | undefined {
  // Ids contain no slash; the names of logs in directories do, but do not begin with one.
  const slash = text.indexOf('/');
  const [node, name] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
  if (!node) return undefined;
  if (!name || name === '=' || name === '/') return { node, log: null };
  if (name.startsWith('=')) return { node, log: { kind: 'file', name: name.slice(1) } };
  return { node, log: { kind: 'family', name: name.startsWith('/') ? name.slice(1) : name } };
}

export function formatSourceText({ node, log }: LogSourceText): string {
  if (!log) return node;
  if (log.kind === 'file') return `${node}/=${log.name}`;
  return `${node}/${log.name.startsWith('=') ? '/' : ''}${log.name}`;
}
