import './style/main.css';
import { render } from 'preact';
import { App, loadPage } from './app.tsx';
import { navigation } from './state/navigation.ts';
import { preferences } from './state/preferences.ts';
import { cluster } from './state/resource.ts';
import type { View } from './state/view.ts';

applyTheme();

navigation.start();

cluster.watch();

const root = document.getElementById('app');

if (root) void openPage(navigation.view.value).then(() => render(<App />, root));

/** Loads the scripts of the first page; of logs, the first request is sent before anything is rendered. */
async function openPage(view: View): Promise<void> {
  const early =
    view.page === 'logs' ? import('./pages/logs/logs-page.tsx').then(({ openEarly }) => openEarly(view)) : undefined;
  // If it cannot be loaded, the page says so.
  await Promise.allSettled([loadPage(view), early]);
}

/** Applies the preferred theme, now and on every change; the system theme by default. */
function applyTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    const theme = preferences.theme.value;
    document.documentElement.dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
  };
  apply();
  preferences.theme.subscribe(apply);
  dark.addEventListener('change', apply);
}
