import type { SourceChoice } from '../../../state/view.ts';

/** `broker-1 : lind-broker`. */
export function sourceName({ node, log }: SourceChoice): string {
  return log === null ? node : `${node} : ${log.kind === 'family' ? log.name.replace(/\.log$/, '') : log.name}`;
}
