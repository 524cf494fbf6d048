import { useState } from 'preact/hooks';
import type { FollowStatus, Workspace } from '../../../log-view/model/workspace-state.ts';
import { nodeColour } from '../../../state/cluster.ts';
import { canFollow, type LogsView, type SourceChoice, type ZoneName } from '../../../state/view.ts';
import { SourceChooser } from '../sources/source-chooser.tsx';
import { sourceName } from '../sources/source-name.ts';
import { FollowPills } from './follow-pills.tsx';
import { LogActions, type LogActionsProps } from './log-actions.tsx';
import { RangeMenu } from './range-menu.tsx';

export interface SourceBarProps {
  view: LogsView;
  zone: ZoneName;
  follow: FollowStatus;
  workspace: Workspace;
  actions: LogActionsProps;
  change: (change: Partial<LogsView>) => void;
  /** Shows the newest records and follows. */
  onFollow: () => void;
}

/** Which logs, which time, and whether they are followed. */
export function SourceBar({ view, zone, follow, workspace, actions, change, onFollow }: SourceBarProps) {
  const [isChoosing, setChoosing] = useState(false);
  const setSources = (sources: readonly SourceChoice[]) => change({ sources, at: null });
  return (
    <div class="bar source-bar">
      <ul class="chips" aria-label="Logs shown">
        {view.sources.length === 0 ? <li class="chip chip-all">All logs of all nodes</li> : null}
        {view.sources.map((source) => (
          <li key={sourceName(source)} class={`chip node-${nodeColour(source.node)}`}>
            <i class="chip-dot" aria-hidden="true" />
            <span>{sourceName(source)}</span>
            <button
              type="button"
              aria-label={`Remove ${sourceName(source)}`}
              onClick={() => setSources(view.sources.filter((other) => other !== source))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <button type="button" class="button" onClick={() => setChoosing(true)}>
        + source
      </button>
      <span class="bar-space" />
      <LogActions {...actions} />
      <RangeMenu range={view.range} zone={zone} onChange={(range) => change({ range, at: null, timeMs: null })} />
      <FollowPills follow={follow} workspace={workspace} isClosed={!canFollow(view.range)} onFollow={onFollow} />
      <SourceChooser
        isOpen={isChoosing}
        chosen={view.sources}
        zone={zone}
        onClose={() => setChoosing(false)}
        onChoose={(sources) => {
          setChoosing(false);
          setSources(sources);
        }}
      />
    </div>
  );
}
