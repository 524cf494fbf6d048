/* Node's HTTP server with finished responses and nothing else: what no server on one thread of Node.js can exceed. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const responses = new Map(
  JSON.parse(readFileSync(process.argv[2], 'utf8')).map(({ path, headers, body }) => [
    path,
    { headers, body: Buffer.from(body, 'base64') },
  ]),
);
const server = createServer((request, response) => {
  const { headers, body } = responses.get(request.url);
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${server.address().port}`));
