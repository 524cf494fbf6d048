/*
 * A service on Fastify with its node below /ops, on the port of the service. The node closes with the server.
 *
 *   npm install fastify porthole && node examples/embed-fastify.mjs
 */
import fastify from 'fastify';
import { createNode, fastifyPlugin } from 'porthole';

const node = await createNode({
  settings: { http: { basePath: '/ops' }, logging: { dir: 'log/fastify' } },
  config: { orders: { perSecond: 5 } },
});

const app = fastify();
await app.register(fastifyPlugin(node), { prefix: '/ops' });
app.get('/', () => 'the shop\n');
const address = await app.listen({ port: Number(process.env.PORT ?? 8080), host: '127.0.0.1' });
console.log(`fastify ${address}/ops/`);

process.once('SIGTERM', () => app.close());
