import './style/main.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { loadPage } from './pages/load-page.ts';
import { navigation } from './state/navigation.ts';
import { applyTheme } from './ui/apply-theme.ts';

// First of all: the page that is shown comes over the network while the rest is made.
loadPage(navigation.view.value.page);
applyTheme();
navigation.start();
const root = document.getElementById('app');
if (root) render(<App />, root);
