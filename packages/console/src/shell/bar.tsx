import type { ClusterNodes } from '@porthole/client';
import { useState } from 'preact/hooks';
import { navigation } from '../state/navigation.ts';
import { sheet } from '../state/notice.ts';
import { Store } from '../state/store.ts';
import { LAST_HOUR, type TimeRange } from '../state/time-range.ts';
import { ALL_CONFIG, ALL_LOGS, ALL_NODES, INCIDENTS, OVERVIEW, rangeOf, type View, withRange } from '../state/view.ts';
import { viewUrl } from '../state/view-url.ts';
import { Button, type ButtonProps, IconButton } from '../ui/controls.tsx';
import { Sheet } from '../ui/dialog.tsx';
import { useStore } from '../ui/hooks.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { Menu } from '../ui/menu.tsx';
import { RangeMenu } from './range-menu.tsx';

const SessionItems = lazy(async () => (await import('./opened-later.ts')).SessionItems);

const PAGES: readonly { name: string; icon: IconName; view: View; pages: readonly View['page'][] }[] = [
  { name: 'Overview', icon: 'overview', view: OVERVIEW, pages: ['overview'] },
  { name: 'Logs', icon: 'logs', view: ALL_LOGS, pages: ['logs'] },
  { name: 'Incidents', icon: 'incidents', view: INCIDENTS, pages: ['incidents'] },
  { name: 'Configuration', icon: 'configuration', view: ALL_CONFIG, pages: ['config'] },
  { name: 'Nodes', icon: 'nodes', view: ALL_NODES, pages: ['nodes', 'node'] },
];

/** What the page puts beside the time range: whether it is live. */
export const barButton = new Store<ButtonProps | null>(null);

/** One bar: where, when, who. Everything else belongs to the page. */
export function Bar({ view, nodes }: { view: View; nodes: ClusterNodes | null }) {
  const button = useStore(barButton);
  const range = rangeOf(view);
  const links = PAGES.map(({ name, icon, view: target, pages }) => {
    const isHere = pages.includes(view.page);
    return (
      <a
        key={name}
        class="flex dim page-link"
        href={viewUrl(withRange(target, range))}
        aria-label={name}
        aria-current={isHere ? 'page' : undefined}
        data-tip={isHere ? undefined : name}
      >
        <Icon name={icon} />
        <span>{name}</span>
      </a>
    );
  });
  return (
    <header class="flex bar">
      <PhoneMenu>{links}</PhoneMenu>
      <a class="flex brand" href={viewUrl(withRange(OVERVIEW, range))} aria-label="Porthole: overview">
        <Logo />
        <strong>Porthole</strong>
        {nodes && nodes.nodes.length > 1 && <small class="cut">{nodes.cluster}</small>}
      </a>
      <span class="page-name" aria-hidden="true">
        {pageName(view)}
      </span>
      <nav class="flex page-links" aria-label="Pages">
        {links}
      </nav>
      <div class="flex bar-tools">
        {button && <Button {...button} />}
        {range !== undefined && <RangeMenu range={range} fallback={fallbackOf(view)} onChange={changeRange} />}
        <Button
          class="is-quiet"
          icon="search"
          aria-label="Commands"
          tip="Commands"
          onClick={() => sheet.set('palette')}
        >
          <kbd>{isApple() ? '⌘ K' : 'Ctrl K'}</kbd>
        </Button>
        <Menu label="Session" tip="Session, zone, theme" buttonClass="button is-quiet" button={<Icon name="account" />}>
          {(close) => <SessionItems {...{ nodes, close }} />}
        </Menu>
      </div>
    </header>
  );
}

/** The pages behind a button: there is no room for their names. */
function PhoneMenu({ children }: { children: preact.ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="bar-menu">
      <IconButton label="Pages" icon="menu" aria-expanded={isOpen} onClick={() => setOpen(true)} />
      <Sheet title="Porthole" isOpen={isOpen} onClose={() => setOpen(false)}>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click, too */}
        <nav class="col" aria-label="Pages" onClick={() => setOpen(false)}>
          {children}
        </nav>
      </Sheet>
    </div>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <circle cx="12" cy="12" r="10" stroke="var(--accent)" stroke-width="2.5" />
      <circle cx="12" cy="12" r="5.5" fill="var(--accent)" />
      <path d="M7.5 13.2c1.5-1 3-1 4.5 0s3 1 4.5 0" stroke="var(--panel)" stroke-width="1.6" stroke-linecap="round" />
    </svg>
  );
}

/** Logs may be shown of all times; other pages always have a range. */
function fallbackOf({ page }: View): TimeRange | null {
  return page === 'logs' ? null : LAST_HOUR;
}

function changeRange(range: TimeRange | null): void {
  navigation.settle();
  const view = navigation.view.value;
  const next = withRange(view, range);
  // A position in the log belongs to the range it was found in.
  navigation.go(next.page === 'logs' ? { ...next, at: null, timeMs: null } : next);
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}

/** The document title: most specific part first, because tabs are narrow. */
export function pageTitle(view: View, clusterName: string | undefined): string {
  return [viewTitle(view), clusterName, 'Porthole'].filter(Boolean).join(' · ');
}

function viewTitle(view: View): string {
  if (view.page === 'overview') return '';
  if (view.page === 'unknown') return 'Not found';
  if (view.page === 'logs') return logsTitle(view);
  if (view.page === 'node') return { overview: '', config: 'Configuration of ', logs: 'Logs of ' }[view.tab] + view.id;
  if (view.page === 'config') {
    if (view.tab === 'compare' && view.left && view.right) return `${view.left} and ${view.right}`;
    if (view.tab !== 'compare' && view.node) return `Configuration of ${view.node}`;
  }
  return pageName(view) ?? '';
}

function pageName({ page }: View): string | undefined {
  return PAGES.find(({ pages }) => pages.includes(page))?.name;
}

function logsTitle({ text, sources }: Extract<View, { page: 'logs' }>): string {
  const nodes = [...new Set(sources.map(({ node }) => node))];
  const where = nodes.length > 0 && nodes.length <= 2 ? ` of ${nodes.join(', ')}` : '';
  return text ? `${text} · Logs${where}` : `Logs${where}`;
}
