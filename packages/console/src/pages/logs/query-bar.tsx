import { isPattern } from '@porthole/contract';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FindStatus, Row } from '../../log-view/model/workspace-state.ts';
import type { LogSource } from '../../log-view/source/log-source.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { actions as pageActions } from '../../state/notice.ts';
import { preferences } from '../../state/preferences.ts';
import { type LogsView, sourceName } from '../../state/view.ts';
import { Condition, IconButton, NodeDot } from '../../ui/controls.tsx';
import { useStore } from '../../ui/hooks.ts';
import { lazy } from '../../ui/lazy.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { QueryBox } from './query-box.tsx';
import { type ChangeView, rememberQuery, type TypedQuery, useTypedQuery } from './typed-query.ts';
import { toFindQuery } from './use-log-workspace.ts';
import type { ViewAction } from './view-actions.ts';

interface QueryBarProps {
  view: LogsView;
  find: FindStatus;
  workspace: LogWorkspace;
  source: LogSource;
  rows: readonly Row[];
  field: RefObject<HTMLInputElement>;
  act: (action: ViewAction) => void;
  plainUrl: string;
  change: ChangeView;
  /** Returns the focus to the rows. */
  onLeave: () => void;
  /** Opens the facets, where they are not beside the rows. */
  onFacets: (() => void) | null;
}

/** One box for texts and queries; what belongs to the whole view is behind two buttons beside it. */
export function QueryBar(props: QueryBarProps) {
  const { view, find, workspace, source, rows, field, act, plainUrl, change, onLeave, onFacets } = props;
  const typed = useTypedQuery(view, change);
  const { content, commit } = typed;
  const step = (direction: 'older' | 'newer') => {
    // The URL reaches the workspace only with the next render.
    if (content.kind === 'find') workspace.setFind(toFindQuery({ ...view, text: content.text }));
    workspace.findNext(direction);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    commit();
    if (content.kind !== 'invalid') rememberQuery(typed.text);
    if (event.key === 'Escape') onLeave();
    else if (!event.altKey) step(event.shiftKey ? 'newer' : 'older');
    else if (content.kind === 'find') change({ query: '', text: content.text, isOnlyMatches: !view.isOnlyMatches });
    event.preventDefault();
  };
  return (
    <search class="flex query-bar">
      <QueryBox
        {...{ view, typed, source, rows, field }}
        messageId={find.message ? 'find-message' : undefined}
        hasProblem={find.message !== null && view.isRegex}
        onKeyDown={press}
      >
        <FindToggles {...{ view, typed, change }} />
        {onFacets ? <IconButton label="Facets" icon="facets" onClick={onFacets} /> : null}
      </QueryBox>
      <ViewsMenu view={view} />
      <ShareMenu act={act} plainUrl={plainUrl} />
    </search>
  );
}

function FindToggles({ view, typed, change }: Pick<QueryBarProps, 'view' | 'change'> & { typed: TypedQuery }) {
  const { content, clear, setRegex } = typed;
  const text = content.kind === 'find' ? content.text : '';
  const exclude = () => {
    clear();
    change({ query: '', text: '', excluded: [...new Set([...view.excluded, text])] });
  };
  return (
    <span class="fixed query-toggles">
      {text.trim() === '' ? null : (
        <IconButton label="Exclude records that contain this text" icon="exclude" onClick={exclude} />
      )}
      <IconButton
        label="Match case"
        aria-pressed={view.isCaseSensitive}
        onClick={() => change({ isCaseSensitive: !view.isCaseSensitive })}
      >
        Aa
      </IconButton>
      <IconButton label="Regular expression" aria-pressed={view.isRegex} onClick={() => setRegex(!view.isRegex)}>
        .*
      </IconButton>
    </span>
  );
}

function ShareMenu({ act, plainUrl }: Pick<QueryBarProps, 'act' | 'plainUrl'>) {
  return (
    <Menu class="share-menu" label="Share" icon="share" button="Share">
      {(close) => {
        const run = (action: ViewAction) => () => {
          close();
          act(action);
        };
        return (
          <>
            <MenuItem icon="link" note="Y" onClick={run('copy-link')}>
              Copy link
            </MenuItem>
            <MenuItem icon="terminal" onClick={run('copy-command')}>
              Copy as CLI
            </MenuItem>
            <MenuItem icon="download" onClick={run('download')}>
              Download
            </MenuItem>
            <MenuItem icon="file" href={plainUrl}>
              Plain text
            </MenuItem>
          </>
        );
      }}
    </Menu>
  );
}

const SavedViewsDialog = lazy(async () => (await import('./opened-later.ts')).SavedViewsDialog);
const ViewItems = lazy(async () => (await import('./opened-later.ts')).ViewItems);

/** Saved views to open, and a dialog to save and arrange them; also from the palette. */
export function ViewsMenu({ view }: { view: LogsView }) {
  const [isOpen, setOpen] = useState(false);
  const wasOpen = useRef(false);
  wasOpen.current ||= isOpen;
  const folds = useStore(preferences.folds);
  useEffect(() => pageActions.put([{ name: 'Save this view, or open a saved one', run: () => setOpen(true) }]), []);
  return (
    <>
      <Menu class="views-menu" label="Views" icon="views" button="Views">
        {(close) => (
          <>
            <ViewItems close={close} />
            <MenuItem isOn={folds} onClick={() => preferences.folds.set(!folds)}>
              Fold repeated lines
            </MenuItem>
            <MenuItem
              icon="views"
              onClick={() => {
                close();
                setOpen(true);
              }}
            >
              Save or manage views
            </MenuItem>
          </>
        )}
      </Menu>
      {wasOpen.current ? <SavedViewsDialog isOpen={isOpen} view={view} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** Which logs and conditions of the view are not in the box, each with a button that removes it. */
export function Conditions({ view, change }: Pick<QueryBarProps, 'view' | 'change'>) {
  const { sources, labels, query, text: found, excluded, callSite, component } = view;
  const conditions = [
    ...labels.map((label) => ({ text: label, rest: { labels: labels.filter((other) => other !== label), at: null } })),
    // Otherwise it is in the box.
    ...(query !== '' && found !== '' ? [{ text: `find ${found}`, rest: { text: '' } }] : []),
    ...excluded.map((text) => ({
      text: `not ${text}`,
      rest: { excluded: excluded.filter((other) => other !== text) },
    })),
    ...(callSite === null ? [] : [{ text: `at ${callSite}`, rest: { callSite: null } }]),
    ...(component === null ? [] : [{ text: `[${component}]`, rest: { component: null } }]),
  ];
  if (conditions.length + sources.length === 0) return null;
  return (
    <ul class="chips conditions" aria-label="Filters">
      {sources.map((source) => (
        <Condition
          key={sourceName(source)}
          text={sourceName(source)}
          onRemove={() => change({ sources: sources.filter((other) => other !== source), at: null })}
        >
          {isPattern(source.node) ? null : <NodeDot id={source.node} />}
        </Condition>
      ))}
      {conditions.map(({ text, rest }) => (
        <Condition key={text} text={text} onRemove={() => change(rest)} />
      ))}
    </ul>
  );
}
