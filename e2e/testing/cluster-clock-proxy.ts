import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './cluster-fake-member.ts';

/** A node as it is seen when its clock is off: what it says of the time is shifted, all else passes through. */
export async function startClockProxy(url: string, offset: number | (() => number)): Promise<string> {
  const offsetMs = typeof offset === 'number' ? () => offset : offset;
  return listen(
    createServer((request, response) => {
      const upstream = get(`${url}${request.url}`, { headers: request.headers, agent: false }, (answer) => {
        if (request.url === '/api/v1/node') void shiftClock(answer, response, offsetMs());
        else answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
      });
      upstream.on('error', () => response.destroy());
      response.on('close', () => upstream.destroy());
    }),
  );
}

async function shiftClock(answer: IncomingMessage, response: ServerResponse, offsetMs: number): Promise<void> {
  let text = '';
  for await (const part of answer) text += String(part);
  const description = JSON.parse(text) as { clockMs: number };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...description, clockMs: description.clockMs + offsetMs }));
}
