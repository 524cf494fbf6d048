/* One script: the pages of nodes show their configurations, too. */

export { ConfigPage } from './config/config-page.tsx';
export { NodePage } from './nodes/node-page.tsx';
export { NodesPage } from './nodes/nodes-page.tsx';
