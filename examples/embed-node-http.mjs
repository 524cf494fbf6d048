/*
 * A service on node:http with its node below /ops, on the port of the service.
 *
 *   node examples/embed-node-http.mjs
 */
import { createServer } from 'node:http';
import { createNode } from 'porthole';

const node = await createNode({
  settings: { http: { basePath: '/ops' }, logging: { dir: 'log/node-http' } },
  config: { orders: { perSecond: 5 } },
});

const server = createServer((request, response) => {
  if (/^\/ops(\/|\?|$)/.test(request.url)) node.handler(request, response);
  else response.end('the shop\n');
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`node:http http://127.0.0.1:${server.address().port}/ops/`);
});

process.once('SIGTERM', async () => {
  await node.close();
  server.close();
});
