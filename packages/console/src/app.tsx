import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Bar, pageTitle } from './shell/bar.tsx';
import { Notices } from './shell/notices.tsx';
import { Sheets } from './shell/sheets.tsx';
import { navigation } from './state/navigation.ts';
import { notice } from './state/notice.ts';
import { cluster } from './state/resource.ts';
import type { View } from './state/view.ts';
import { linkTo } from './state/view-url.ts';
import { Button } from './ui/controls.tsx';
import { useResource, useStore } from './ui/hooks.ts';
import { Loading } from './ui/notes.tsx';
import { Tooltip } from './ui/tooltip.tsx';

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
      <Bar view={view} nodes={nodes.value} />
      <Notices nodes={nodes} />
      <Main view={view} />
      <Toasts />
      <Tooltip />
      <Sheets />
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

/** Changes with the page or its subject, not with filters or tabs. */
function pageKey(view: View): string {
  return view.page === 'node' ? `node ${view.id}` : view.page;
}

type PageName = Exclude<View['page'], 'unknown'>;

type PageComponent<Name extends PageName> = ComponentType<{ view: Extract<View, { page: Name }> }>;

/** The scripts of the pages, loaded when one is first opened. */
const PAGES: { [Name in PageName]: () => Promise<PageComponent<Name>> } = {
  overview: async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage,
  incidents: async () => (await import('./pages/incidents/incidents-page.tsx')).IncidentsPage,
  logs: async () => (await import('./pages/logs/logs-page.tsx')).LogsPage,
  config: async () => (await import('./pages/config/config-page.tsx')).ConfigPage,
  nodes: async () => (await import('./pages/nodes/nodes-page.tsx')).NodesPage,
  node: async () => (await import('./pages/nodes/node-page.tsx')).NodePage,
};

const loaded = new Map<string, ComponentType<{ view: View }>>();

/** Loads the script of a page; later its component is there at once. */
export async function loadPage({ page }: Pick<View, 'page'>): Promise<void> {
  if (page === 'unknown' || loaded.has(page)) return;
  loaded.set(page, (await PAGES[page]()) as ComponentType<{ view: View }>);
}

function Page({ view }: { view: View }) {
  const [problem, setProblem] = useState<Error | null>(null);
  const [, draw] = useState(0);
  const Loaded = loaded.get(view.page);
  useEffect(() => {
    if (Loaded || view.page === 'unknown') return;
    loadPage(view).then(() => draw((count) => count + 1), setProblem);
  }, [view.page, Loaded]);
  // Its script is gone: the node was replaced by another version.
  if (problem) throw problem;
  if (view.page === 'unknown') return <UnknownPage path={view.path} />;
  return Loaded ? <Loaded view={view} /> : <Loading what="the page" />;
}

function UnknownPage({ path }: { path: string }) {
  const [UiPage, setUiPage] = useState<ComponentType | null>(null);
  useEffect(() => {
    // Decided by the build: only consoles for development have this page.
    if (globalThis.PORTHOLE_CONSOLE_UI && path === linkTo('/ui'))
      void import('./pages/ui/ui-page.tsx').then((module) => setUiPage(() => module.UiPage));
  }, [path]);
  if (UiPage) return <UiPage />;
  return (
    <div class="page-text">
      <h1>Page not found</h1>
      <p>
        The console has no page <code>{path}</code>.
      </p>
      <p>
        <a href={linkTo('/')}>Overview</a> · <a href={linkTo('/logs')}>Logs</a> ·{' '}
        <a href={linkTo('/incidents')}>Incidents</a> · <a href={linkTo('/config')}>Configuration</a> ·{' '}
        <a href={linkTo('/nodes')}>Nodes</a> · <a href={linkTo('/docs')}>API</a>
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
    const isGone = /dynamically imported module|module script failed/i.test(error.message);
    return (
      <div class="page-text" role="alert">
        <h1>{isGone ? 'The console has changed' : 'This page failed'}</h1>
        <p>
          {isGone
            ? 'This part of the page could not be loaded: the node has another version by now, or does not respond.'
            : 'This is a bug in the console; the nodes and their data are not affected.'}
        </p>
        {isGone ? null : <pre class="wraps card card-body error-text">{error.stack ?? error.message}</pre>}
        <p>
          {isGone ? (
            <Button class="is-primary" onClick={() => location.reload()}>
              Reload
            </Button>
          ) : (
            <Button onClick={() => this.setState({ error: null })}>Try again</Button>
          )}
        </p>
      </div>
    );
  }
}

function Toasts() {
  const current = useStore(notice);
  useEffect(() => {
    if (!current) return;
    const timer = setTimeout(() => {
      if (notice.value === current) notice.set(null);
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [current]);
  return (
    <div class="toasts" role="status">
      {current && (
        <span class="wraps toast" key={current.number}>
          {current.text}
        </span>
      )}
    </div>
  );
}
