import { useEffect, useRef } from 'preact/hooks';
import { ClusterPage } from './pages/cluster/cluster-page.tsx';
import { ConfigPage } from './pages/config/config-page.tsx';
import { LogsPage } from './pages/logs/logs-page.tsx';
import { NodePage } from './pages/node/node-page.tsx';
import { NotFoundPage } from './pages/not-found/not-found-page.tsx';
import { cluster } from './state/cluster.ts';
import { navigation } from './state/navigation.ts';
import type { View } from './state/view.ts';
import { useResource } from './ui/hooks/use-resource.ts';
import { useStore } from './ui/hooks/use-store.ts';
import { Banners } from './ui/shell/banners.tsx';
import { ErrorBoundary } from './ui/shell/error-boundary.tsx';
import { Header } from './ui/shell/header.tsx';
import { KeySheet } from './ui/shell/key-sheet.tsx';
import { NoticeLine } from './ui/shell/notice-line.tsx';
import { pageTitle } from './ui/shell/page-title.ts';
import { Palette } from './ui/shell/palette.tsx';
import { TokenDialog } from './ui/shell/token-dialog.tsx';

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

/** The page itself. Who goes to another one is taken to its beginning, also by keyboard and screen reader. */
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
      return <ClusterPage />;
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

/** Changes when another thing is looked at, not with how it is looked at. */
function pageKey(view: View): string {
  return view.page === 'node' ? `node ${view.id}` : view.page;
}
