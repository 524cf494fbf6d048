import './style/main.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { openEarly } from './pages/logs/workspace/open-logs.ts';
import { cluster } from './state/cluster.ts';
import { navigation } from './state/navigation.ts';
import { applyTheme } from './ui/shell/apply-theme.ts';

applyTheme();
navigation.start();
// What is shown first is asked for before it is drawn.
const opened = openEarly(navigation.view.value);
cluster.watch();
const root = document.getElementById('app');
if (root) void opened.then(() => render(<App />, root));
