import { useState } from 'preact/hooks';
import type { FollowStatus } from '../../log-view/model/workspace-state.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { nodeColour } from '../../state/resource.ts';
import { canFollow, type LogsView, type SourceChoice, type ZoneName } from '../../state/view.ts';
import { Button, Chip } from '../../ui/controls.tsx';
import { formatCount, formatCounted } from '../../ui/format.ts';
import { ViewsButton } from './saved-views-dialog.tsx';
import { SourceChooser, sourceName } from './source-chooser.tsx';
import { GoToTime as RangeMenu } from './go-to-time.tsx';

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
          <Chip
            key={sourceName(source)}
            class={`node-${nodeColour(source.node)}`}
            text={sourceName(source)}
            onRemove={() => setSources(view.sources.filter((other) => other !== source))}
          >
            <i class="chip-dot" aria-hidden="true" />
          </Chip>
        ))}
        {view.labels.map((label) => (
          <Chip
            key={label}
            text={label}
            onRemove={() => change({ labels: view.labels.filter((other) => other !== label), at: null })}
          />
        ))}
      </ul>
      <Button onClick={() => setChoosing(true)}>+ source</Button>
      <span class="bar-space" />
      <Button
        title="List the fields of these records and count their values (F)"
        aria-pressed={view.hasFields}
        onClick={() => change({ hasFields: !view.hasFields })}
      >
        Fields
      </Button>
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
      <Button
        class={`pill ${isLost ? 'pill-lost' : 'pill-live'}`}
        title={
          isLost ? `Connection lost · retrying (${follow.reason ?? 'unknown reason'})` : 'Following; click to pause (f)'
        }
        onClick={() => workspace.pause()}
      >
        <i class="pill-dot" aria-hidden="true" />
        {isLost ? 'Reconnecting…' : 'Live'}
      </Button>
    );
  }
  const errors = newErrors > 0 ? ` (${formatCounted(newErrors, 'error')})` : '';
  const waiting = newRecords > 0 ? ` · ${formatCount(newRecords)} new${errors}` : '';
  return (
    <Button
      class={`pill ${state === 'paused' ? 'pill-paused' : ''}`}
      title={isClosed ? 'Remove the end of the time range and follow (f)' : 'Go to the end and follow (f)'}
      onClick={onFollow}
    >
      {state === 'paused' ? `Paused${waiting}` : 'Follow'}
    </Button>
  );
}

/** Actions for the whole view. */
function LogActions({ onCopyCli, onCopyLink, onDownload, plainUrl }: LogActionsProps) {
  return (
    <div class="log-actions">
      <Button title="Copy a command that shows the same in a terminal" onClick={onCopyCli}>
        Copy as CLI
      </Button>
      <Button title="Copy a link to this view" onClick={onCopyLink}>
        Copy link
      </Button>
      <Button
        title="Download every record of this view as text (a single file as it is). The last line says whether it is complete"
        onClick={onDownload}
      >
        Download
      </Button>
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
