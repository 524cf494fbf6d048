import type { ClusterNodes } from '@porthole/client';
import { preferences, type Theme } from '../state/preferences.ts';
import { nodeView, type View } from '../state/view.ts';
import { linkTo, viewUrl } from '../state/view-url.ts';
import { Button } from '../ui/controls.tsx';
import { zoneLabel } from '../ui/format.ts';
import { useNow, useStore } from '../ui/hooks.ts';
import { sheet } from './key-sheet.tsx';

const NEXT_THEME: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

const THEME_NAMES: Readonly<Record<Theme, string>> = { system: 'Auto', light: 'Light', dark: 'Dark' };

/** The offset of a zone changes twice a year. */
const ZONE_CHECK_MS = 60_000;

const PAGES = [
  { href: '/', name: 'Cluster', pages: ['cluster', 'node'] },
  { href: '/logs', name: 'Logs', pages: ['logs'] },
  { href: '/config', name: 'Configuration', pages: ['config'] },
] as const;

export function Header({ view, nodes }: { view: View; nodes: ClusterNodes | null }) {
  const self = nodes?.nodes.find(({ isSelf }) => isSelf);
  return (
    <header class="header">
      <a class="brand" href={linkTo('/')} aria-label="Porthole: the cluster">
        <span class="logo" aria-hidden="true" />
        <strong>Porthole</strong>
      </a>
      {nodes && <span class="cluster-name">{nodes.cluster}</span>}
      <nav class="page-links" aria-label="Pages">
        {PAGES.map(({ href, name, pages }) => (
          <a
            key={href}
            href={linkTo(href)}
            aria-current={pages.some((page) => page === view.page) ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <div class="header-tools">
        <Button class="key-button" title="Commands" onClick={() => sheet.set('palette')}>
          {isApple() ? '⌘ K' : 'Ctrl K'}
        </Button>
        <Button class="key-button" title="Keys" aria-label="Keys" onClick={() => sheet.set('keys')}>
          ?
        </Button>
        {self && (
          <span class="via" title="The node that serves this page and queries the others">
            via <a href={viewUrl(nodeView(self.id))}>{self.id}</a>
          </span>
        )}
        <ZoneSwitch />
        <ThemeSwitch />
      </div>
    </header>
  );
}

function ZoneSwitch() {
  const zone = useStore(preferences.zone);
  const nowMs = useNow(ZONE_CHECK_MS);
  const shown = zoneLabel(zone, nowMs);
  const isLocal = zone === 'local';
  const hint = isLocal
    ? 'Times are in the time zone of this browser. Show UTC'
    : 'Times are in UTC. Show the time zone of this browser';
  return (
    <Button
      class="quiet-button"
      title={hint}
      aria-label={`${shown}. ${hint}`}
      onClick={() => preferences.zone.set(isLocal ? 'utc' : 'local')}
    >
      {shown}
      {isLocal && shown === 'UTC' && ' (local)'}
    </Button>
  );
}

function ThemeSwitch() {
  const theme = useStore(preferences.theme);
  const hint = `Theme: ${THEME_NAMES[theme]}. Change to ${THEME_NAMES[NEXT_THEME[theme]]}`;
  return (
    <Button
      class="quiet-button theme-switch"
      title={hint}
      aria-label={hint}
      onClick={() => preferences.theme.set(NEXT_THEME[theme])}
    >
      <span class={`theme-icon theme-${theme}`} aria-hidden="true" />
      {THEME_NAMES[theme]}
    </Button>
  );
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}

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
