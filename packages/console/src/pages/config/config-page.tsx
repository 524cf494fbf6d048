import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { countDrift } from '../../config/drift-rows.ts';
import { loadNodeConfig, type NodeConfigState } from '../../config/node-config.ts';
import { loadEvents } from '../../events/load-events.ts';
import { navigation } from '../../state/navigation.ts';
import { cluster } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { ConfigView, NodeView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Chip, NodeDot, Tabs } from '../../ui/controls.tsx';
import { type Loaded, useLoaded, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { LabelMenu } from '../../ui/label-filter.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { FailureNote, LoadedNote, Loading, NoSuchNode, RecordedNote } from '../../ui/notes.tsx';
import { CompareTab } from './compare-tab.tsx';
import { FindBox } from './config-parts.tsx';
import { HistoryTab } from './history-tab.tsx';
import { TextTab } from './text-tab.tsx';

/** A configuration rarely changes, but its file on disk may at any time. */
const REFRESH_MS = 30_000;

/** More nodes than fit into a menu without looking for one. */
const MANY_NODES = 12;

const TAB_NAMES = { history: 'History', compare: 'Compare nodes', text: 'Text' } as const;

/** The versions of a node's configuration, where nodes differ, and the text of one. */
export function ConfigPage({ view }: { view: ConfigView }) {
  const { tab, labels, by, text } = view;
  const drift = useLoaded(
    JSON.stringify([labels, by]),
    (signal) => {
      const request = { ...(labels.length > 0 && { labels }), ...(by !== null && { by }) };
      return session.client.configDiff(request, { signal });
    },
    { everyMs: REFRESH_MS },
  );
  const diff = drift.value;
  const differing = diff?.roles.reduce((sum, role) => sum + countDrift(role), 0) ?? 0;
  const { id, failure, reload } = useNodeId(view.node);
  const [step, setStep] = useState(0);
  const go = (change: Partial<ConfigView>, options?: { replace: boolean }) =>
    navigation.go({ ...view, ...change }, options);
  const select = (change: Partial<ConfigView>) => go({ role: null, group: null, left: null, right: null, ...change });
  return (
    <>
      <div class="flex wrap line sub-bar">
        <Tabs
          label="Configuration"
          id="config"
          value={tab}
          tabs={(['history', 'compare', 'text'] as const).map((value) => ({
            value,
            text: (
              <>
                {TAB_NAMES[value]}
                {value === 'compare' && differing > 0 && <Chip tone="warn">{differing}</Chip>}
              </>
            ),
          }))}
          onChange={(next) => go({ tab: next })}
        />
        <span class="grow" />
        {tab === 'compare' ? (
          <LabelMenu
            {...{ labels, by }}
            onLabels={(next) => select({ labels: next })}
            onBy={(next) => select({ by: next })}
          />
        ) : (
          <NodeMenu id={id} view={view} />
        )}
        <FindBox
          label={tab === 'text' ? 'Find in text' : 'Find key or value'}
          text={text}
          onText={(next) => {
            setStep(0);
            go({ text: next }, { replace: true });
          }}
          {...(tab === 'text' && { onStep: (by: 1 | -1) => setStep(step + by) })}
        />
      </div>
      <div id="config-panel" role="tabpanel" aria-labelledby={`config-${tab}`} class="config-panel">
        {tab === 'compare' ? (
          <>
            <LoadedNote loaded={drift} what="The comparison" loading="the configurations of all nodes" />
            {diff && <CompareTab key={JSON.stringify([labels, by])} {...{ view, diff }} onRetry={drift.reload} />}
          </>
        ) : id === null ? (
          failure ? (
            <FailureNote what="The configurations" failure={failure} onRetry={reload} />
          ) : (
            <Loading what="the configurations of all nodes" />
          )
        ) : (
          <LoadedConfig key={id} id={id} urlOf={(other) => viewUrl({ ...view, node: other, atMs: null })}>
            {(state) =>
              tab === 'history' ? (
                <HistoryTab {...{ state, view, diff }} />
              ) : (
                <TextTab {...{ state, view, step }} onStep={(by) => setStep(step + by)} />
              )
            }
          </LoadedConfig>
        )}
      </div>
    </>
  );
}

/** The wanted node, or the one whose configuration changed last; `null` until that is known. */
function useNodeId(wanted: string | null): Pick<Loaded<unknown>, 'failure' | 'reload'> & { id: string | null } {
  const nodes = useStore(cluster.state).value?.nodes;
  const { value, failure, reload } = useLoaded(String(wanted === null), async (signal) => {
    if (wanted !== null) return null;
    const response = await session.client.configHistory({ nodes: ['*'], limit: 1 }, { signal });
    const changed = response.nodes.flatMap(({ id, history }) => {
      const [newest] = history?.periods ?? [];
      return newest?.changes ? [{ id, fromMs: newest.fromMs }] : [];
    });
    return { id: changed.sort((a, b) => b.fromMs - a.fromMs)[0]?.id ?? null };
  });
  // Without a history, the node that serves this page.
  const self = value || failure ? nodes?.find(({ isSelf }) => isSelf)?.id : undefined;
  return { id: wanted ?? value?.id ?? self ?? null, failure, reload };
}

/** The node whose configuration is shown, and all others. */
function NodeMenu({ id, view }: { id: string | null; view: ConfigView }) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const [filter, setFilter] = useState('');
  if (id === null) return null;
  const ids = nodes.map((node) => node.id);
  const shown = (ids.includes(id) ? ids : [id, ...ids]).filter((one) => one.includes(filter));
  return (
    <Menu
      label={`Node: ${id}`}
      button={
        <>
          <NodeDot id={id} />
          <span class="cut">{id}</span>
          <Icon name="open" />
        </>
      }
    >
      {(close) => (
        <>
          {ids.length > MANY_NODES && (
            <input
              type="search"
              aria-label="Find node"
              placeholder="Find node"
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          )}
          {shown.map((one) => (
            <MenuItem
              key={one}
              href={viewUrl({ ...view, node: one, atMs: null })}
              isOn={one === id}
              onClick={close}
              note={
                nodes.some((node) => node.id === one && node.report.outcome === 'ok') ? undefined : 'not responding'
              }
            >
              <NodeDot id={one} /> {one}
            </MenuItem>
          ))}
        </>
      )}
    </Menu>
  );
}

interface LoadedConfigProps {
  id: string;
  /** The same view of another node. */
  urlOf: (id: string) => string;
  children: (state: NodeConfigState) => ComponentChildren;
}

/** What is known of one node, loaded again from time to time. */
function LoadedConfig({ id, urlOf, children }: LoadedConfigProps) {
  const loaded = useLoaded(id, (signal) => loadNodeConfig(session.client, id, loadConfigEvents, { signal }), {
    everyMs: REFRESH_MS,
  });
  const { value, failure } = loaded;
  if (failure?.code === 'MEMBER_NOT_FOUND')
    return (
      <div class="config-body">
        <NoSuchNode {...{ id, urlOf }} />
      </div>
    );
  return (
    <>
      <LoadedNote loaded={loaded} what="The configuration" loading={`the configuration of ${id}`} />
      {value && value.report.outcome !== 'ok' && <RecordedNote report={value.report} onRetry={loaded.reload} />}
      {value && children(value)}
    </>
  );
}

/** Events about the configuration of a node, since its first start. */
async function loadConfigEvents(id: string, signal: AbortSignal | undefined) {
  const kinds = ['config-changed', 'version-changed', 'config-file-differs'] as const;
  const request = { nodes: [id], kinds, fromMs: 0, toMs: Date.now() };
  return (await loadEvents(request, signal ?? new AbortController().signal)).events;
}

/** The configuration tab of a node's page. */
export function NodeConfig({ view }: { view: NodeView }) {
  const [step, setStep] = useState(0);
  return (
    <div class="stack node-config">
      <FindBox
        label="Find in text"
        text={view.text}
        onText={(text) => {
          setStep(0);
          navigation.go({ ...view, text }, { replace: true });
        }}
        onStep={(by) => setStep(step + by)}
      />
      <LoadedConfig key={view.id} id={view.id} urlOf={(id) => viewUrl({ ...view, id })}>
        {(state) => <TextTab {...{ state, view, step }} onStep={(by) => setStep(step + by)} />}
      </LoadedConfig>
    </div>
  );
}
