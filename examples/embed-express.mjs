/*
 * A service on Express with its node below /ops, on the port of the service. Connect is the same.
 *
 *   npm install express porthole && node examples/embed-express.mjs
 */
import express from 'express';
import { createNode } from 'porthole';

const node = await createNode({
  settings: { http: { basePath: '/ops' }, logging: { dir: 'log/express' } },
  config: { orders: { perSecond: 5 } },
});

const app = express();
app.use(express.json());
app.use('/ops', node.handler);
app.get('/', (_request, response) => response.send('the shop\n'));
const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`express http://127.0.0.1:${server.address().port}/ops/`);
});

process.once('SIGTERM', async () => {
  await node.close();
  server.close();
});
