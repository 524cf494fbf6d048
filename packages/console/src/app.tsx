import { Component, type ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ClusterPage } from './pages/cluster/cluster-page.tsx';
import { ConfigPage } from './pages/config/lazy-config.tsx';
import { PlainPage } from './pages/logs/plain-page.tsx';
import { WorkspacePage } from './pages/logs/workspace-page.tsx';
import { NodePage } from './pages/node/node-page.tsx';
import { Banners } from './shell/banners.tsx';
import { Header, pageTitle } from './shell/header.tsx';
import { KeySheet } from './shell/key-sheet.tsx';
import { Palette } from './shell/palette.tsx';
import { TokenDialog } from './shell/token-dialog.tsx';
import { navigation } from './state/navigation.ts';
import { notice } from './state/notice.ts';
import { cluster } from './state/resource.ts';
import type { LogsView, View } from './state/view.ts';
import { linkTo } from './state/view-url.ts';
import { Button } from './ui/controls.tsx';
import { useResource, useStore } from './ui/hooks.ts';

interface Caught {
  error: Error | null;
}

/** Long enough to read, short enough not to be in the way. */
const SHOWN_MS = 3000;

export function App() {
  const view = useStore(navigation.view);
  const nodes = useResource(cluster);
  const title = pageTitle(view, nodes.value?.cluster);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <Header view={view} nodes={nodes.value} />
      <Banners nodes={nodes} />
      <Main view={view} />
      <NoticeLine />
      <Palette />
      <KeySheet />
      <TokenDialog />
    </>
  );
}

/** The current page. Navigation moves the scroll position and the focus to its start. */
function Main({ view }: { view: View }) {
  const main = useRef<HTMLElement>(null);
  const currentKey = pageKey(view);
  const shown = useRef(currentKey);
  useEffect(() => {
    if (shown.current !== currentKey) main.current?.focus({ preventScroll: true });
    shown.current = currentKey;
  }, [currentKey]);
  return (
    <main id="main" class={`page page-${view.page}`} tabIndex={-1} ref={main}>
      <ErrorBoundary key={currentKey}>
        <Page view={view} />
      </ErrorBoundary>
    </main>
  );
}

function Page({ view }: { view: View }) {
  switch (view.page) {
    case 'cluster':
      return <ClusterPage view={view} />;
    case 'node':
      return <NodePage view={view} />;
    case 'config':
      return <ConfigPage view={view} />;
    case 'logs':
      return <LogsPage view={view} />;
    case 'unknown':
      return <NotFoundPage view={view} />;
  }
}

/** Changes with the page or its subject, not with filters or tabs. */
function pageKey(view: View): string {
  return view.page === 'node' ? `node ${view.id}` : view.page;
}

/** The logs as a workspace or as plain text. */
function LogsPage({ view }: { view: LogsView }) {
  return view.isPlain ? <PlainPage view={view} /> : <WorkspacePage view={view} />;
}

function NotFoundPage({ view }: { view: Extract<View, { page: 'unknown' }> }) {
  return (
    <div class="page-text">
      <h1>Page not found</h1>
      <p>
        The console has no page <code>{view.path}</code>.
      </p>
      <p>
        <a href={linkTo('/')}>Cluster</a> · <a href={linkTo('/logs')}>Logs</a> ·{' '}
        <a href={linkTo('/config')}>Configuration</a> · <a href={linkTo('/docs')}>API</a>
      </p>
    </div>
  );
}

/** Shows the error of a page that failed to render; the rest of the console stays usable. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, Caught> {
  override state: Caught = { error: null };

  static override getDerivedStateFromError(thrown: unknown): Caught {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div class="page-text" role="alert">
        <h1>This page failed</h1>
        <p>This is a bug in the console; the nodes and their data are not affected.</p>
        <pre class="error-text">{error.stack ?? error.message}</pre>
        <Button onClick={() => this.setState({ error: null })}>Try again</Button>
      </div>
    );
  }
}

function NoticeLine() {
  const current = useStore(notice);
  useEffect(() => {
    if (!current) return;
    const timer = setTimeout(() => {
      if (notice.value === current) notice.set(null);
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [current]);
  return (
    <div class="notice-line" role="status">
      {current && <span key={current.number}>{current.text}</span>}
    </div>
  );
}
