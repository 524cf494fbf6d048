import { useState } from 'preact/hooks';
import type { FollowStatus } from '../../log-view/model/workspace-state.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { nodeColour } from '../../state/resource.ts';
import { canFollow, type LogsView, type SourceChoice, type ZoneName } from '../../state/view.ts';
import { formatCount } from '../../ui/format.ts';
import { ViewsButton } from './saved-views-dialog.tsx';
import { SourceChooser, sourceName } from './source-chooser.tsx';
import { RangeMenu } from './time-controls.tsx';

interface SourceBarProps {
  view: LogsView;
  zone: ZoneName;
  follow: FollowStatus;
  workspace: LogWorkspace;
  actions: LogActionsProps;
  change: (change: Partial<LogsView>) => void;
  /** Shows the newest records and follows. */
  onFollow: () => void;
}

interface FollowPillsProps {
  follow: FollowStatus;
  workspace: LogWorkspace;
  /** The time range has an end: no new record can fall into it. */
  isClosed: boolean;
  onFollow: () => void;
}

interface LogActionsProps {
  onCopyCli: () => void;
  onCopyLink: () => void;
  onDownload: () => void;
  plainUrl: string;
}

/** Selected logs, time range and follow state. */
export function SourceBar({ view, zone, follow, workspace, actions, change, onFollow }: SourceBarProps) {
  const [isChoosing, setChoosing] = useState(false);
  const setSources = (sources: readonly SourceChoice[]) => change({ sources, at: null });
  return (
    <div class="bar source-bar">
      <ul class="chips" aria-label="Logs shown">
        {view.sources.length === 0 ? (
          <li class="chip chip-all">All logs of all nodes{view.labels.length > 0 ? ' with' : ''}</li>
        ) : null}
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
        {view.labels.map((label) => (
          <li key={label} class="chip chip-label">
            <span>{label}</span>
            <button
              type="button"
              aria-label={`Remove ${label}`}
              onClick={() => change({ labels: view.labels.filter((other) => other !== label), at: null })}
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
      <button
        type="button"
        class="button"
        title="List the fields of these records and count their values (F)"
        aria-pressed={view.hasFields}
        onClick={() => change({ hasFields: !view.hasFields })}
      >
        Fields
      </button>
      <ViewsButton view={view} />
      <LogActions {...actions} />
      <RangeMenu range={view.range} zone={zone} onChange={(range) => change({ range, at: null, timeMs: null })} />
      <FollowPills follow={follow} workspace={workspace} isClosed={!canFollow(view.range)} onFollow={onFollow} />
      <SourceChooser
        isOpen={isChoosing}
        chosen={view.sources}
        labels={view.labels}
        zone={zone}
        onClose={() => setChoosing(false)}
        onChoose={(choice) => {
          setChoosing(false);
          change({ ...choice, at: null });
        }}
      />
    </div>
  );
}

/** Shows whether new lines appear, and how many wait while paused. */
function FollowPills({ follow, workspace, isClosed, onFollow }: FollowPillsProps) {
  const { state, newRecords, newErrors } = follow;
  if (state === 'live' || state === 'reconnecting') {
    const isLost = state === 'reconnecting';
    return (
      <button
        type="button"
        class={`pill ${isLost ? 'pill-lost' : 'pill-live'}`}
        title={
          isLost ? `Connection lost · retrying (${follow.reason ?? 'unknown reason'})` : 'Following; click to pause (f)'
        }
        onClick={() => workspace.pause()}
      >
        <i class="pill-dot" aria-hidden="true" />
        {isLost ? 'Reconnecting…' : 'Live'}
      </button>
    );
  }
  const errors = newErrors > 0 ? ` (${formatCount(newErrors)} ${newErrors === 1 ? 'error' : 'errors'})` : '';
  const waiting = newRecords > 0 ? ` · ${formatCount(newRecords)} new${errors}` : '';
  return (
    <button
      type="button"
      class={`pill ${state === 'paused' ? 'pill-paused' : ''}`}
      title={isClosed ? 'Remove the end of the time range and follow (f)' : 'Go to the end and follow (f)'}
      onClick={onFollow}
    >
      {state === 'paused' ? `Paused${waiting}` : 'Follow'}
    </button>
  );
}

/** Actions for the whole view. */
function LogActions({ onCopyCli, onCopyLink, onDownload, plainUrl }: LogActionsProps) {
  return (
    <div class="log-actions">
      <button type="button" class="button" title="Copy a command that shows the same in a terminal" onClick={onCopyCli}>
        Copy as CLI
      </button>
      <button type="button" class="button" title="Copy a link to this view" onClick={onCopyLink}>
        Copy link
      </button>
      <button
        type="button"
        class="button"
        title="Download every record of this view as text (a single file as it is). The last line says whether it is complete"
        onClick={onDownload}
      >
        Download
      </button>
      <a
        class="button"
        href={plainUrl}
        title="Show the records as plain text, for the browser's search and screen readers"
      >
        Text
      </a>
    </div>
  );
}
