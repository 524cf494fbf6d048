/*
 * A program with a server of its own and a node below /ops, with the settings of the environment. Nothing here catches what the
 * node may throw: whatever does not stay within the node ends the program.
 */
import { createServer } from 'node:http';
import { createNode } from 'porthole';

let node;
const server = createServer((request, response) => {
  if (node && request.url.startsWith('/ops/')) node.handler(request, response);
  else response.end('the shop\n');
});
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/ops`;
  node = await createNode({
    url,
    env: process.env,
    settings: { http: { basePath: '/ops' }, logging: { dir: 'data/log' } },
  });
  console.log(`porthole is ready at ${url}/`);
});
