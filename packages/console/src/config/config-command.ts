/** Words that a shell takes as they are. */
const UNQUOTED = /^[\w@%+=:,./-]+$/;

interface CommandOptions {
  /** The node this page comes from. */
  origin: string;
}

/** The command that prints what the page shows of one node. */
export function configGetCommand(nodeId: string, { origin }: CommandOptions): string {
  return buildCommand(['config', 'get', `${nodeId}:`], origin);
}

/** The command that tells what the page shows of two nodes. */
export function configPairCommand(left: string, right: string, { origin }: CommandOptions): string {
  return buildCommand(['config', 'diff', `${left}:`, `${right}:`, '-o', 'unified'], origin);
}

/** The command that tells where the nodes of the cluster differ. */
export function configDiffCommand(
  { role, showExpected }: { role: string | null; showExpected: boolean },
  { origin }: CommandOptions,
): string {
  const flags = [...(role === null ? [] : ['--role', role]), ...(showExpected ? ['--expected'] : [])];
  return buildCommand(['config', 'diff', ...flags], origin);
}

function buildCommand(words: readonly string[], origin: string): string {
  return ['porthole', ...words, '--url', origin].map(quote).join(' ');
}

function quote(word: string): string {
  return UNQUOTED.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
