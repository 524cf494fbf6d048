import type { ComponentType } from 'preact';
import { Store } from '../state/store.ts';
import type { View } from '../state/view.ts';

type PageName = View['page'];

type PageComponent<Name extends PageName> = ComponentType<{ view: Extract<View, { page: Name }> }>;

/** A page comes when it is first shown; those that were shown stay. */
const LOADERS: { [Name in PageName]: () => Promise<PageComponent<Name>> } = {
  cluster: async () => (await import('./cluster/cluster-page.tsx')).ClusterPage,
  node: async () => (await import('./node/node-page.tsx')).NodePage,
  config: async () => (await import('./config/config-page.tsx')).ConfigPage,
  logs: async () => (await import('./logs/logs-page.tsx')).LogsPage,
  unknown: async () => (await import('./not-found/not-found-page.tsx')).NotFoundPage,
};

export type LoadedPage =
  | { kind: 'loading' }
  | { kind: 'ready'; component: ComponentType<{ view: View }> }
  | { kind: 'failed'; detail: string };

const pages = new Map<PageName, Store<LoadedPage>>();

/** The page as far as it is here; asks for it unless that was done. Only loading the whole anew helps one that failed. */
export function loadPage(name: PageName): Store<LoadedPage> {
  const known = pages.get(name);
  if (known) return known;
  const page = new Store<LoadedPage>({ kind: 'loading' });
  pages.set(name, page);
  LOADERS[name]().then(
    // Each page is only given views of its own name.
    (component) => page.set({ kind: 'ready', component: component as ComponentType<{ view: View }> }),
    (thrown: unknown) =>
      page.set({ kind: 'failed', detail: thrown instanceof Error ? thrown.message : String(thrown) }),
  );
  return page;
}
