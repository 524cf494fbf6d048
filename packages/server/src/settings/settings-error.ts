import type { SettingSource } from '@porthole/contract';
import type { AST } from 'toml-eslint-parser';

export type SettingsProblemCode =
  | 'FILE_MISSING'
  | 'FILE_UNREADABLE'
  | 'SYNTAX'
  | 'UNKNOWN_KEY'
  | 'BAD_VALUE'
  /** Values that are fine alone but impossible together. */
  | 'CONFLICT';

export interface SettingsProblem {
  code: SettingsProblemCode;
  /** Complete, with the location: `porthole.toml:12: unknown key "http.prot" - did you mean "http.port"?` */
  message: string;
  source: SettingSource;
  file?: string;
  line?: number;
}

/** A problem before its line is known: lines need a second parser, which runs only if there is a problem. */
export interface Finding {
  code: SettingsProblemCode;
  source: SettingSource;
  /** Where, for the reader: `environment PORTHOLE_HTTP_PORT`; the file's name for a file. */
  at: string;
  text: string;
  /** The setting concerned, where there is one. */
  key?: string;
  /** Where in the file. */
  path?: readonly string[];
  line?: number;
  column?: number;
}

/** A wrong file of another program can hold thousands of keys; these are enough to see that. */
const MAX_LISTED_PROBLEMS = 50;

/** The node cannot start with these settings. Reports all problems at once, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly code = 'SETTINGS_INVALID';
  readonly problems: readonly SettingsProblem[];

  constructor(problems: readonly SettingsProblem[]) {
    const lines = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ message }) => message);
    if (problems.length > MAX_LISTED_PROBLEMS) lines.push(`... and ${problems.length - MAX_LISTED_PROBLEMS} more`);
    super(lines.join('\n'));
    this.problems = problems;
  }
}

/** Sources in rising precedence. */
export const PRECEDENCE: readonly SettingSource[] = ['default', 'file', 'env', 'flag', 'option'];

/** The findings as messages with their position, the file first, by line. */
export async function formatProblems(findings: readonly Finding[], fileText: string): Promise<SettingsProblem[]> {
  const needsLines = findings.some(({ path }) => path !== undefined);
  const lines = needsLines ? await locateKeys(fileText) : new Map<string, number>();
  return findings
    .map((finding) => toProblem(finding, finding.line ?? lines.get(pathId(finding.path ?? []))))
    .sort((a, b) => PRECEDENCE.indexOf(a.source) - PRECEDENCE.indexOf(b.source) || (a.line ?? 0) - (b.line ?? 0));
}

function toProblem({ code, source, at, text, column }: Finding, line: number | undefined): SettingsProblem {
  const location = [at, line, column].filter((part) => part !== undefined).join(':');
  return {
    code,
    message: `${location}: ${text}`,
    source,
    ...(source === 'file' ? { file: at } : {}),
    ...(line === undefined ? {} : { line }),
  };
}

/**
 * The line of every table and key down to the second level, by `pathId`. Empty when the parser cannot follow the text:
 * a message without a line is better than none.
 */
async function locateKeys(text: string): Promise<Map<string, number>> {
  const lines = new Map<string, number>();
  // Loaded here because it takes longer than all the rest of the settings, and only a wrong file needs it.
  const { ParseError, parseTOML } = await import('toml-eslint-parser');
  try {
    for (const node of parseTOML(text, { tomlVersion: '1.1' }).body[0].body) locateNode(lines, [], node);
  } catch (thrown) {
    if (!(thrown instanceof ParseError)) throw thrown;
    lines.clear();
  }
  return lines;
}

function pathId(path: readonly string[]): string {
  return JSON.stringify(path.slice(0, 2));
}

/** Notes the line of a table or key, of the tables its path opens on the way, and of what it contains. */
function locateNode(
  lines: Map<string, number>,
  outer: readonly string[],
  node: AST.TOMLTable | AST.TOMLKeyValue,
): void {
  const path = [...outer, ...node.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))];
  for (let length = 1; length <= Math.min(path.length, 2); length++) {
    const id = pathId(path.slice(0, length));
    if (!lines.has(id)) lines.set(id, node.key.loc.start.line);
  }
  if (node.type === 'TOMLTable') for (const pair of node.body) locateNode(lines, path, pair);
  else if (path.length < 2 && node.value.type === 'TOMLInlineTable')
    for (const pair of node.value.body) locateNode(lines, path, pair);
}
