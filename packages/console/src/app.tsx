import { useEffect, useRef } from 'preact/hooks';
import { ClusterPage } from './pages/cluster/cluster-page.tsx';
import { ConfigPage } from './pages/config/config-page.tsx';
import { LogsPage } from './pages/logs/logs-page.tsx';
import { NodePage } from './pages/node/node-page.tsx';
import { NotFoundPage } from './pages/not-found/not-found-page.tsx';
import { cluster } from './state/cluster.ts';
import { navigation } from './state/navigation.ts';
import type { View } from './state/view.ts';
import { Banners } from './ui/banners.tsx';
import { ErrorBoundary } from './ui/error-boundary.tsx';
import { Header } from './ui/header.tsx';
import { KeySheet } from './ui/key-sheet.tsx';
import { NoticeLine } from './ui/notice-line.tsx';
import { Palette } from './ui/palette.tsx';
import { titleOf } from './ui/title-of.ts';
import { TokenDialog } from './ui/token-dialog.tsx';
import { useResource } from './ui/use-resource.ts';
import { useStore } from './ui/use-store.ts';

export function App() {
  const view = useStore(navigation.view);
  const nodes = useResource(cluster);
  const title = titleOf(view, nodes.value?.cluster);
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
  const place = placeOf(view);
  const shown = useRef(place);
  useEffect(() => {
    if (shown.current !== place) main.current?.focus({ preventScroll: true });
    shown.current = place;
  }, [place]);
  return (
    <main id="main" class={`page page-${view.page}`} tabIndex={-1} ref={main}>
      <ErrorBoundary key={place}>
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
function placeOf(view: View): string {
  return view.page === 'node' ? `node ${view.id}` : view.page;
}
