import type { ClusterNode, MemberReport } from '@porthole/client';
import { coverageOf } from '@porthole/contract';
import type { ShownEvent } from '../../events/event-text.ts';
import type { ZoneName } from '../../state/view.ts';
import { formatAge, formatCounted, formatMinute, formatSecond, recordedText } from '../../ui/format.ts';
import { type ErrorStrip, rises } from '../nodes/error-counts.ts';
import { isDegraded, lostMs, missingNodes } from '../nodes/node-health.ts';

/** A part of a sentence of facts. */
export interface HeadlinePart {
  text: string;
  /** `nodes`: what is wrong with nodes; `errors`: leads to them; `calm`: nothing is wrong. */
  about: 'nodes' | 'errors' | 'calm';
}

interface HeadlineFacts {
  nodes: readonly ClusterNode[];
  /** Names of nodes without what all of them share. */
  names: ReadonlyMap<string, string>;
  events: readonly ShownEvent[];
  /** Errors over time, where they are counted. */
  strip: ErrorStrip | null;
  zone: ZoneName;
}

const MAX_NAMED = 2;

/**
 * `storage-3 is down, and errors rose on 2 nodes at 03:12`: what is wrong now, then what happened, in its order. Facts
 * only, and no "none" of what was not read.
 */
export function headline({ nodes, names, events, strip, zone }: HeadlineFacts, counts: string | null): HeadlinePart[] {
  const expected = nodes.filter(({ state }) => state !== 'left');
  const down = missingNodes(expected);
  const now = (own: readonly ClusterNode[], what: string): Fact[] => {
    if (own.length === 0) return [];
    const ids = own.map(({ id }) => id);
    const who = namesText(ids, names, `${ids.length} of ${expected.length} nodes`);
    return [
      { who, count: ids.length, say: (name) => `${name} ${ids.length === 1 ? 'is' : 'are'} ${what}`, about: 'nodes' },
    ];
  };
  const began = (
    own: readonly Pick<ShownEvent, 'node' | 'timeMs'>[],
    about: Fact['about'],
    say: (who: string, count: number) => string,
  ): Fact[] => {
    if (own.length === 0) return [];
    const atMs = Math.min(...own.map(({ timeMs }) => timeMs));
    const ids = [...new Set(own.map(({ node }) => node))];
    const who = namesText(ids, names, `${ids.length} nodes`);
    const text = (name: string) => `${say(name, ids.length)} at ${formatMinute(atMs, zone)}`;
    return [{ who, count: ids.length, say: text, about, atMs }];
  };
  // What happened to a node that was dismissed, or is filtered out, is in the list of events.
  const ids = new Set(expected.map(({ id }) => id));
  const of = (...kinds: ShownEvent['kind'][]) =>
    events.filter(({ kind, node }) => kinds.includes(kind) && ids.has(node));
  const bursts = of('log-burst');
  const news = of('new-pattern');
  // A node has no events of the time before it was there, but counts.
  const counted = strip && news.length === 0 ? rises(strip).filter(({ node }) => ids.has(node)) : [];
  const rose = bursts.length > 0 ? bursts : counted;
  const errors =
    rose.length > 0
      ? began(rose, 'errors', (who) => `errors rose on ${who}`)
      : began(news, 'errors', (who) => `new errors began on ${who}`);
  // Those that are down are named already.
  const losses = of('killed', 'member-lost').filter(({ node }) => down.every(({ id }) => id !== node));
  const isKilled = losses.every(({ kind }) => kind === 'killed');
  const lost = began(losses, 'nodes', (who, count) =>
    isKilled ? `${who} ${count === 1 ? 'was' : 'were'} killed` : `${who} stopped responding`,
  );
  const facts = [
    ...now(down, 'down'),
    ...now(expected.filter(isDegraded), 'degraded'),
    ...[...errors, ...lost].sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0)),
  ];
  if (facts.length > 0) {
    const parts = facts.map(({ who, count, say, about }, at): HeadlinePart => {
      const before = facts[at - 1];
      const text = say(count === 1 && before?.who === who ? 'it' : who);
      // A node is called what it is called.
      return { about, text: at === 0 && about === 'errors' ? capital(text) : text };
    });
    return errors.length === 0 && counts ? [...parts, { text: counts, about: 'errors' }] : parts;
  }
  const up = expected.length === 1 ? '1 node is up' : `All ${expected.length} nodes are up`;
  return [{ text: up, about: 'calm' }, ...(counts ? [{ text: counts, about: 'errors' } as const] : [])];
}

/** What is said of one node, or several: by name, or as `it` after its name. */
interface Fact extends Pick<HeadlinePart, 'about'> {
  who: string;
  count: number;
  say: (who: string) => string;
  atMs?: number;
}

/** `2 errors on 1 node in the last hour`; `null`: nothing is known yet. */
export function countsText(strip: ErrorStrip | null, { nodes, when }: { nodes: number; when: string }): string | null {
  if (!strip) return null;
  const failing = [...strip.byNode.values()].filter(({ errors }) => errors > 0);
  const total = failing.reduce((sum, { errors }) => sum + errors, 0);
  const { isComplete } = coverageOf(strip);
  const read = strip.members.filter(({ outcome, isPartial }) => outcome === 'ok' && !isPartial).length;
  if (total > 0) {
    const where = nodes === 1 ? '' : ` on ${formatCounted(failing.length, 'node')}`;
    return `${isComplete ? '' : 'at least '}${formatCounted(total, 'error')}${where} ${when}`;
  }
  if (isComplete) return `no errors ${when}`;
  return read === 0 ? 'errors were not counted' : `no errors found on ${read} of ${nodes} nodes`;
}

/** A few by name; more are a count. */
function namesText(ids: readonly string[], names: HeadlineFacts['names'], many: string): string {
  return ids.length <= MAX_NAMED ? ids.map((id) => names.get(id) ?? id).join(' and ') : many;
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
