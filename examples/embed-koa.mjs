/*
 * A service on Koa with its node below /ops, on the port of the service.
 *
 *   npm install koa koa-mount porthole && node examples/embed-koa.mjs
 */
import Koa from 'koa';
import mount from 'koa-mount';
import { createNode } from 'porthole';

const node = await createNode({
  settings: { http: { basePath: '/ops' }, logging: { dir: 'log/koa' } },
  config: { orders: { perSecond: 5 } },
});

const app = new Koa();
app.use(
  mount('/ops', (context) => {
    // The node responds by itself, and wants the path that koa-mount has taken off.
    context.respond = false;
    context.req.url = context.originalUrl;
    node.handler(context.req, context.res, { source: context });
  }),
);
app.use((context) => {
  context.body = 'the shop\n';
});
const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`koa http://127.0.0.1:${server.address().port}/ops/`);
});

process.once('SIGTERM', async () => {
  await node.close();
  server.close();
});
