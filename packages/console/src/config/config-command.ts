/** Words that a shell takes as they are. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

interface Asked {
  /** The node this page comes from. */
  origin: string;
}

/** The command that prints what the page shows of one node. */
export function configGetCommand(nodeId: string, { origin }: Asked): string {
  return commandOf(['config', 'get', `${nodeId}:`], origin);
}

/** The command that tells what the page shows of two nodes. */
export function configPairCommand(left: string, right: string, { origin }: Asked): string {
  return commandOf(['config', 'diff', `${left}:`, `${right}:`, '-o', 'unified'], origin);
}

/** The command that tells where the nodes of the cluster differ. */
export function configDiffCommand(
  { role, showExpected }: { role: string | null; showExpected: boolean },
  { origin }: Asked,
): string {
  const flags = [...(role === null ? [] : ['--role', role]), ...(showExpected ? ['--expected'] : [])];
  return commandOf(['config', 'diff', ...flags], origin);
}

function commandOf(words: readonly string[], origin: string): string {
  return ['porthole', ...words, '--url', origin].map(quote).join(' ');
}

function quote(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
