/* One script: the pages of nodes show their configurations, too. */

// What every page needs is then one script, instead of one for every set of pages that share a part of it.
import '../start.tsx';

export { ConfigPage } from './config/config-page.tsx';
export { NodePage } from './nodes/node-page.tsx';
export { NodesPage } from './nodes/nodes-page.tsx';
