import { lazy } from '../../ui/lazy.tsx';

/* The configuration pages are a script of their own: about a tenth of the console, and most views do not need it. */

const load = () => import('./config-page.tsx');

export const ConfigPage = lazy('configuration page', async () => (await load()).ConfigPage);

export const NodeConfig = lazy('configuration page', async () => (await load()).NodeConfig);
