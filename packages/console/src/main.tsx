import './style/main.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { openEarly } from './pages/logs/use-log-workspace.ts';
import { navigation } from './state/navigation.ts';
import { preferences } from './state/preferences.ts';
import { cluster } from './state/resource.ts';

applyTheme();

navigation.start();

// The first request is sent before anything is rendered.
const opened = openEarly(navigation.view.value);

cluster.watch();

const root = document.getElementById('app');

if (root) void opened.then(() => render(<App />, root));

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
