import type { MemberReport } from '@porthole/client';
import { coverageOf, failures, missingText, outcomeText, type ResponseFacts, respondedText } from '@porthole/contract';
import { useEffect, useState } from 'preact/hooks';
import { preferences } from '../state/preferences.ts';
import { cluster } from '../state/resource.ts';
import { session } from '../state/session.ts';
import type { Problem } from '../state/to-problem.ts';
import { LinkButton, NodeDot } from './controls.tsx';
import { formatSecond, recordedText } from './format.ts';
import { type Loaded, useStore } from './hooks.ts';
import { Icon } from './icon.tsx';

interface FailureNoteProps {
  /** What could not be loaded: `The nodes`. */
  what: string;
  /** What failed, if it is said in other words. */
  title?: string;
  failure: Problem;
  /** When the data still shown was loaded; `null` if none is shown. */
  asOfMs?: number | null;
  onRetry: () => void;
}

/** Faster loading is not shown: it would flicker. */
const QUIET_MS = 400;

/** Nodes listed by name; the rest is a count. */
const MAX_NAMED = 6;

/** A failed request and a button to retry it. While the node is offline, the banner names the problem instead. */
export function FailureNote({ what, title, failure, asOfMs = null, onRetry }: FailureNoteProps) {
  const zone = useStore(preferences.zone);
  const isOffline = useStore(cluster.state).failure?.status === null;
  if (isOffline && failure.status === null)
    return (
      <p class="dim wraps note">{asOfMs === null ? `${what}: not loaded` : `As of ${formatSecond(asOfMs, zone)}`}</p>
    );
  return (
    <p class="notice is-err" role="status">
      <span>
        <strong>{title ?? `${what} could not be loaded.`}</strong> <code>{failure.code}</code> {failure.detail}
        {asOfMs !== null && ` · shown as of ${formatSecond(asOfMs, zone)}`}
      </span>
      {failure.status === 401 ? (
        <LinkButton onClick={() => signIn(onRetry)}>enter a token</LinkButton>
      ) : (
        <LinkButton onClick={onRetry}>retry</LinkButton>
      )}
    </p>
  );
}

function signIn(onRetry: () => void): void {
  session.openTokenDialog();
  onRetry();
}

/** That something is loaded for the first time, or why it could not be. */
export function LoadedNote<Value>({ loaded, what, loading }: LoadedNoteProps<Value>) {
  const { value, asOfMs, failure, reload } = loaded;
  if (failure) return <FailureNote what={what} failure={failure} asOfMs={asOfMs} onRetry={reload} />;
  return value === null ? <Loading what={loading ?? what.charAt(0).toLowerCase() + what.slice(1)} /> : null;
}

interface LoadedNoteProps<Value> {
  loaded: Loaded<Value>;
  /** What could not be loaded: `The nodes`. */
  what: string;
  /** What is loaded, if that is said in other words. */
  loading?: string;
}

interface PartialNoteProps {
  response: ResponseFacts;
  /** Nodes whose absence the page has named already: one notice for each problem. */
  known?: readonly string[];
  onRetry: () => void;
}

/** Names what is missing in a response; renders nothing if nothing is. Nodes that lack the same share a line. */
export function PartialNote({ response, known = [], onRetry }: PartialNoteProps) {
  const zone = useStore(preferences.zone);
  const nodesByText = new Map<string, string[]>();
  for (const part of failures(coverageOf(response))) {
    if (part.node !== null && known.includes(part.node)) continue;
    const text = missingText({ ...part, node: null }, (timeMs) => formatSecond(timeMs, zone));
    nodesByText.set(text, [...(nodesByText.get(text) ?? []), ...(part.node === null ? [] : [part.node])]);
  }
  const missing = [...nodesByText].map(([text, nodes]) => (nodes.length === 0 ? text : `${namesText(nodes)}: ${text}`));
  if (missing.length === 0) return null;
  const more = missing.length > MAX_NAMED ? [`${missing.length - MAX_NAMED} more`] : [];
  return (
    <p class="notice">
      <Icon name="alert" />
      <span>
        {[respondedText(response.members ?? []), ...missing.slice(0, MAX_NAMED), ...more].filter(Boolean).join(' · ')}
      </span>
      <LinkButton onClick={onRetry}>retry</LinkButton>
    </p>
  );
}

function namesText(nodes: readonly string[]): string {
  return nodes.length <= MAX_NAMED ? nodes.join(', ') : `${nodes.length} nodes`;
}

/** That a node does not respond, and until when it is known: once, with the way to ask again. */
export function RecordedNote({ report, onRetry }: { report: MemberReport; onRetry: () => void }) {
  const zone = useStore(preferences.zone);
  const { id, outcome, detail, asOfMs } = report;
  return (
    <p class="notice" role="status">
      <Icon name="gone" />
      <span>
        <strong>{id}</strong> is not responding ·{' '}
        {asOfMs === null
          ? `nothing is known of it: ${detail ?? outcomeText(outcome)}`
          : `shown as ${recordedText({ ...report, asOfMs }, zone)}`}
      </span>
      <LinkButton onClick={onRetry}>retry</LinkButton>
    </p>
  );
}

/** That there is no node of this name, and the same of those that there are. */
export function NoSuchNode({ id, urlOf }: { id: string; urlOf: (id: string) => string }) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  return (
    <div class="page-text">
      <h1>No node named {id}</h1>
      <p>It may have left the cluster. Known nodes:</p>
      <ul>
        {nodes.map((other) => (
          <li key={other.id}>
            <a class="flex" href={urlOf(other.id)}>
              <NodeDot id={other.id} />
              {other.id}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Shows after a short delay that something is loading. */
export function Loading({ what }: { what: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="loading" role="status">
      {isShown && `Loading ${what} …`}
    </p>
  );
}

/** A dash for an unknown value, with the reason as its title. */
export function Unknown({ why }: { why: string }) {
  return (
    <span class="unknown" title={why}>
      <span aria-hidden="true">–</span>
      <span class="sr-only">unknown: {why}</span>
    </span>
  );
}
