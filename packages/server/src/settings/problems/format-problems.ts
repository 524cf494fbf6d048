import type { SettingSource } from '@porthole/contract';
import type { Finding } from '../layers/layer.ts';
import { locateKeys, pathId } from './locate-keys.ts';
import type { SettingsProblem } from './settings-error.ts';

const ORDER: readonly SettingSource[] = ['file', 'env', 'flag', 'option'];

/** The findings as an operator reads them: each with its place, the file first, by line. */
export async function formatProblems(findings: readonly Finding[], fileText: string): Promise<SettingsProblem[]> {
  const needsLines = findings.some(({ path }) => path !== undefined);
  const lines = needsLines ? await locateKeys(fileText) : new Map<string, number>();
  return findings
    .map((finding) => ({ ...finding, ...locateLine(finding, lines) }))
    .sort((a, b) => ORDER.indexOf(a.source) - ORDER.indexOf(b.source) || (a.line ?? 0) - (b.line ?? 0))
    .map(toProblem);
}

function locateLine({ path, line }: Finding, lines: ReadonlyMap<string, number>): { line?: number } {
  const found = line ?? (path === undefined ? undefined : lines.get(pathId(path)));
  return found === undefined ? {} : { line: found };
}

function toProblem({ code, source, at, text, line, column }: Finding): SettingsProblem {
  const location = [at, line, column].filter((part) => part !== undefined).join(':');
  return {
    code,
    message: `${location}: ${text}`,
    source,
    ...(source === 'file' ? { file: at } : {}),
    ...(line === undefined ? {} : { line }),
  };
}
