import type { View } from '../../state/view.ts';

const TABS = { overview: '', config: 'Configuration of ', logs: 'Logs of ' } as const;

/** The document title: most specific part first, because tabs are narrow. */
export function pageTitle(view: View, clusterName: string | undefined): string {
  return [viewTitle(view), clusterName, 'Porthole'].filter(Boolean).join(' · ');
}

function viewTitle(view: View): string {
  switch (view.page) {
    case 'cluster':
      return '';
    case 'node':
      return `${TABS[view.tab]}${view.id}`;
    case 'config':
      return view.left && view.right ? `${view.left} and ${view.right}` : 'Configuration';
    case 'logs':
      return logsTitle(view);
    case 'unknown':
      return 'Not found';
  }
}

function logsTitle({ text, sources }: Extract<View, { page: 'logs' }>): string {
  const nodes = [...new Set(sources.map(({ node }) => node))];
  const where = nodes.length > 0 && nodes.length <= 2 ? ` of ${nodes.join(', ')}` : '';
  return text ? `${text} · Logs${where}` : `Logs${where}`;
}
