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
  readonly problems: readonly SettingsProblem[];

  constructor(problems: readonly SettingsProblem[]) {
    const lines = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ message }) => message);
    if (problems.length > MAX_LISTED_PROBLEMS) lines.push(`... and ${problems.length - MAX_LISTED_PROBLEMS} more`);
    super(lines.join('\n'));
    this.problems = problems;
  }
}

const ORDER: readonly SettingSource[] = ['file', 'env', 'flag', 'option'];

/** The findings as messages with their position, the file first, by line. */
export async function formatProblems(findings: readonly Finding[], fileText: string): Promise<SettingsProblem[]> {
  const needsLines = findings.some(({ path }) => path !== undefined);
  const lines = needsLines ? await locateKeys(fileText) : new Map<string, number>();
  return findings
    .map((finding) => toProblem(finding, finding.line ?? lines.get(pathId(finding.path ?? []))))
    .sort((a, b) => ORDER.indexOf(a.source) - ORDER.indexOf(b.source) || (a.line ?? 0) - (b.line ?? 0));
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
    for (const node of parseTOML(text, { tomlVersion: '1.1' }).body[0].body) {
      if (node.type === 'TOMLTable') locateTable(lines, node);
      else locatePair(lines, [], node);
    }
  } catch (thrown) {
    if (!(thrown instanceof ParseError)) throw thrown;
    lines.clear();
  }
  return lines;
}

function pathId(path: readonly string[]): string {
  return JSON.stringify(path.slice(0, 2));
}

function locateTable(lines: Map<string, number>, table: AST.TOMLTable): void {
  const path = table.resolvedKey.filter((part) => typeof part === 'string');
  note(lines, path, table.key.loc.start.line);
  for (const pair of table.body) locatePair(lines, path, pair);
}

function locatePair(lines: Map<string, number>, prefix: readonly string[], pair: AST.TOMLKeyValue): void {
  const path = [...prefix, ...pair.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))];
  note(lines, path, pair.key.loc.start.line);
  if (path.length < 2 && pair.value.type === 'TOMLInlineTable') {
    for (const inner of pair.value.body) locatePair(lines, path, inner);
  }
}

/** Notes the line for the path and for the tables it opens on the way. */
function note(lines: Map<string, number>, path: readonly string[], line: number): void {
  for (let length = 1; length <= Math.min(path.length, 2); length++) {
    const id = pathId(path.slice(0, length));
    if (!lines.has(id)) lines.set(id, line);
  }
}
