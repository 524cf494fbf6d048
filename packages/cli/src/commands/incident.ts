import type { IncidentQuery } from '@porthole/client';
import {
  failures,
  type Incident,
  incidentHtml,
  incidentMarkdown,
  incidentText,
  type MemberSelection,
  missingText,
  parseSpan,
  rangeProblem,
} from '@porthole/contract';
import { EXIT, interruptSignal, ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { visibleJson, visibleText } from '../output/visible-text.ts';
import { openTimed, timeFlag } from '../records/record-flags.ts';
import { memberSelection } from '../sources/source-flags.ts';

const DEFAULT_LAST_MS = 3_600_000;

/** Prints what happened on the nodes of the cluster, or on a node without one. */
export async function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  const { terminal } = invocation;
  const { client, zone, clock } = await openTimed(invocation, signal);
  const request = buildRequest(invocation, clock);
  const incident = await client.incident({ nodes: ['*'], ...request }, { signal });
  await terminal.write(format(incident));
  const missing = failures(incident.coverage);
  // The text names it at its end.
  if ((invocation.text('output') ?? 'text') !== 'text')
    for (const part of missing) terminal.warn(visibleText(missingText(part)));
  if (missing.length > 0) return EXIT.partial;
  return incident.isUnusual ? EXIT.ok : EXIT.different;

  function format(found: Incident): string {
    switch (invocation.text('output')) {
      case 'json':
        return `${visibleJson(JSON.stringify(found))}\n`;
      case 'markdown':
        return incidentMarkdown(found, zone);
      case 'html':
        return incidentHtml(found, zone);
      default:
        return incidentText(found, zone, { columns: terminal.columns, ...terminal.colors });
    }
  }
}

function buildRequest(invocation: Invocation, clock: Parameters<typeof timeFlag>[2]): IncidentQuery & MemberSelection {
  const last = invocation.text('last');
  const query = invocation.text('query');
  if (last !== undefined && invocation.text('from') !== undefined)
    throw new ProgramError('--from and --last both say where to start: give one of them');
  const toMs = timeFlag(invocation, 'to', clock) ?? clock.nowMs;
  const lastMs = last === undefined ? DEFAULT_LAST_MS : (parseSpan(last) ?? DEFAULT_LAST_MS);
  const fromMs = timeFlag(invocation, 'from', clock) ?? toMs - lastMs;
  const problem = rangeProblem({ name: '--from', timeMs: fromMs }, { name: '--to', timeMs: toMs });
  if (problem !== undefined) throw new ProgramError(problem);
  const { args } = invocation;
  return {
    ...{ fromMs, toMs },
    ...(query !== undefined && { query }),
    ...(args.length > 0 && { nodes: [...args] }),
    ...memberSelection(invocation),
  };
}
