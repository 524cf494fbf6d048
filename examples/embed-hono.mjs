/*
 * A service on Hono with its node below /ops, on the port of the service. On servers that are not of Node.js, `node.fetch`
 * takes the request: `app.all('/ops/*', (context) => node.fetch(context.req.raw, { address }))`.
 *
 *   npm install hono @hono/node-server porthole && node examples/embed-hono.mjs
 */
import { serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { createNode } from 'porthole';

const node = await createNode({
  settings: { http: { basePath: '/ops' }, logging: { dir: 'log/hono' } },
  config: { orders: { perSecond: 5 } },
});

const app = new Hono();
app.all('/ops/*', (context) => {
  node.handler(context.env.incoming, context.env.outgoing, { source: context });
  return RESPONSE_ALREADY_SENT;
});
app.get('/', (context) => context.text('the shop\n'));
const server = serve(
  { fetch: app.fetch, port: Number(process.env.PORT ?? 8080), hostname: '127.0.0.1' },
  ({ port }) => {
    console.log(`hono http://127.0.0.1:${port}/ops/`);
  },
);

process.once('SIGTERM', async () => {
  await node.close();
  server.close();
});
