import type { ClusterNode, MemberReport } from '@porthole/client';
import { coverageOf } from '@porthole/contract';
import type { ShownEvent } from '../../events/event-text.ts';
import type { ZoneName } from '../../state/view.ts';
import { formatAge, formatCounted, formatMinute, formatSecond, recordedText } from '../../ui/format.ts';
import type { ErrorStrip } from '../nodes/error-counts.ts';
import { isDegraded, lostMs, missingNodes } from '../nodes/node-health.ts';

/** A sentence of facts in three parts. */
export interface Headline {
  /** What is wrong with nodes. */
  alarm: string;
  /** Between it and the next. */
  between: string;
  /** What is known of errors: a link to them. */
  errors: string;
  /** Whether errors are what is wrong. */
  isRise: boolean;
}

interface HeadlineFacts {
  nodes: readonly ClusterNode[];
  /** Names of nodes without what all of them share. */
  names: ReadonlyMap<string, string>;
  strip: ErrorStrip | null;
  events: readonly ShownEvent[];
  /** `in the last hour`, `from 03:10 to 03:16` */
  when: string;
  zone: ZoneName;
}

const MAX_NAMED = 2;

/** `storage-3 is down, and errors rose on 2 nodes at 03:12`. Facts only, and no "none" of what was not read. */
export function headline({ nodes, names, strip, events, when, zone }: HeadlineFacts): Headline {
  const expected = nodes.filter(({ state }) => state !== 'left');
  const down = missingNodes(expected);
  const degraded = expected.filter(isDegraded);
  const states = [
    ...(down.length > 0 ? [`${namesText(down, names, expected.length)} ${down.length === 1 ? 'is' : 'are'} down`] : []),
    ...(degraded.length > 0
      ? [`${namesText(degraded, names, expected.length)} ${degraded.length === 1 ? 'is' : 'are'} degraded`]
      : []),
  ];
  const errors = errorsPart({ names, strip, events, when, zone, count: expected.length });
  const { text = '', isRise = false } = errors ?? {};
  if (states.length > 0) return { alarm: states.join(', '), between: errors ? ', and ' : '', errors: text, isRise };
  if (isRise) return { alarm: '', between: '', errors: capital(text), isRise };
  const up = expected.length === 1 ? '1 node is up' : `All ${expected.length} nodes are up`;
  return { alarm: '', between: errors ? `${up}, ` : up, errors: text, isRise };
}

function errorsPart({
  names,
  strip,
  events,
  when,
  zone,
  count,
}: Omit<HeadlineFacts, 'nodes'> & { count: number }): { text: string; isRise: boolean } | null {
  const bursts = events.filter(({ kind }) => kind === 'log-burst');
  const first = Math.min(...bursts.map(({ timeMs }) => timeMs));
  const bursting = [...new Set(bursts.map(({ node }) => node))];
  if (bursting.length > 0) {
    const where =
      bursting.length <= MAX_NAMED
        ? bursting.map((id) => names.get(id) ?? id).join(' and ')
        : `${bursting.length} nodes`;
    return { text: `errors rose on ${where} at ${formatMinute(first, zone)}`, isRise: true };
  }
  if (!strip) return null;
  const failing = [...strip.byNode.values()].filter(({ errors }) => errors > 0);
  const total = failing.reduce((sum, { errors }) => sum + errors, 0);
  const { isComplete } = coverageOf(strip);
  const read = strip.members.filter(({ outcome, isPartial }) => outcome === 'ok' && !isPartial).length;
  if (total > 0) {
    const where = count === 1 ? '' : ` on ${formatCounted(failing.length, 'node')}`;
    return { text: `${isComplete ? '' : 'at least '}${formatCounted(total, 'error')}${where} ${when}`, isRise: false };
  }
  if (isComplete) return { text: `no errors ${when}`, isRise: false };
  return {
    text: read === 0 ? 'errors were not counted' : `no errors found on ${read} of ${count} nodes`,
    isRise: false,
  };
}

function namesText(nodes: readonly ClusterNode[], names: HeadlineFacts['names'], all: number): string {
  if (nodes.length <= MAX_NAMED) return nodes.map(({ id }) => names.get(id) ?? id).join(' and ');
  return `${nodes.length} of ${all} nodes`;
}

/** `4 of 5 nodes responded`, and of each node that is gone: since when, and what is kept of it. */
export function subline(
  nodes: readonly ClusterNode[],
  members: readonly MemberReport[],
  { names, nowMs, zone }: Pick<HeadlineFacts, 'names' | 'zone'> & { nowMs: number },
): string {
  const expected = nodes.filter(({ state }) => state !== 'left');
  const up = expected.filter(({ state }) => state === 'up').length;
  const responded =
    up === expected.length ? `all ${up} nodes responded` : `${up} of ${expected.length} nodes responded`;
  const down = missingNodes(expected);
  const gone = down.slice(0, MAX_NAMED).map((node) => {
    const report = members.find((member) => member.id === node.id);
    const name = names.get(node.id) ?? node.id;
    const goneMs = lostMs(node, report);
    if (goneMs === null) return `${name} has not responded; when it last did is not known`;
    const since = `${formatSecond(goneMs, zone)}, ${formatAge(goneMs, nowMs)}`;
    if (report?.asOfMs == null) return `${name} last responded ${since}`;
    const by = report.recordedBy && { recordedBy: names.get(report.recordedBy) ?? report.recordedBy };
    return `${name} is gone since ${since}; ${recordedText({ ...report, ...by, asOfMs: report.asOfMs }, zone)}`;
  });
  const first = expected.length === 1 ? (up === 1 ? 'not part of a cluster' : 'the node does not respond') : responded;
  const more = down.length > MAX_NAMED ? [`${down.length - MAX_NAMED} more`] : [];
  return capital([first, ...gone, ...more].join(' · '));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
