import { useEffect, useState } from 'preact/hooks';
import type { Edge, Workspace } from '../model/workspace-state.ts';
import { type EdgeSituation, edgeText } from './edge-text.ts';
import { CELL, ROW } from './grid-roles.ts';

/** How often what is told while loading is brought up to date. */
const TICK_MS = 400;

export interface EdgeLineProps {
  edge: Edge;
  situation: Omit<EdgeSituation, 'nowMs'>;
  workspace: Workspace;
}

/** The line above the first row, or below the last. */
export function EdgeLine({ edge, situation, workspace }: EdgeLineProps) {
  const [, tick] = useState(0);
  const isLoading = edge.kind === 'loading';
  useEffect(() => {
    if (!isLoading) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isLoading]);
  const { text, action, label, isProblem } = edgeText(edge, { ...situation, nowMs: Date.now() });
  const act = () => (action === 'stop' ? workspace.stopLoading() : workspace.retry());
  return (
    <div class={`edge ${isProblem ? 'is-problem' : ''}`} {...ROW}>
      <span {...CELL}>
        {isLoading && text ? <i class="spinner" aria-hidden="true" /> : null}
        {text}
        {action ? (
          <button type="button" class="link-button" onClick={act}>
            · {label}
          </button>
        ) : null}
      </span>
    </div>
  );
}
