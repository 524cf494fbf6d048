import { familySource, fileSource, formatLogSource, parseLogSource } from '@porthole/contract';
import type { SourceChoice } from './view.ts';

/* What is chosen, in addresses of the page: `NODE` for all logs of a node, `NODE/FAMILY` and `NODE/=FILE` as in requests. */

export function parseChoice(text: string): SourceChoice | undefined {
  const { node, kind, name } = parseLogSource(text);
  if (!text.includes('/')) return text === '' || text.startsWith('=') ? undefined : { node: text, log: null };
  if (node === '') return undefined;
  return { node, log: name === '' ? null : { kind, name } };
}

export function formatChoice({ node, log }: SourceChoice): string {
  return log === null ? node : formatLogSource({ node, ...log });
}

/** The same in a request, where a node without a log would be a log. */
export function choiceSource({ node, log }: SourceChoice): string {
  return formatLogSource({ node, ...(log ?? { kind: 'family', name: '*' }) });
}

/** A log of the node that is asked. */
export function logSource({ kind, name }: NonNullable<SourceChoice['log']>): string {
  return kind === 'family' ? familySource(name) : fileSource(name);
}
