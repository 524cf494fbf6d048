import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** How many are opened at once: less than the queue in which the system keeps those that nobody has accepted yet. */
const AT_ONCE = 100;

/** Connections of a client that means no good, open until the test ends. What the node does to them is no failure here. */
export async function openMany(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  while (sockets.length < count) {
    const more = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, () => openOne(port));
    sockets.push(...more);
    await Promise.all(more.map((socket) => once(socket, 'connect').catch(() => {})));
  }
  return sockets;
}

function openOne(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  return socket;
}

/**
 * Sends the bytes and gives everything that comes back until the node closes, or until `settled` resolves: something that
 * the node can only have done after it had dealt with the bytes.
 */
export async function exchange(port: number, bytes: string, settled: () => Promise<unknown>): Promise<string> {
  const [socket] = await openMany(port, 1);
  if (socket === undefined) return '';
  let text = '';
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(Buffer.from(bytes, 'latin1'));
  await Promise.race([closed, settled()]);
  socket.destroy();
  return text;
}

export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
