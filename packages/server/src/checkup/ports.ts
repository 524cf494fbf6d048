import { createServer } from 'node:net';
import { askNode, type NodeThere } from './ask-node.ts';
import { type Look, ok, problem, warning } from './finding.ts';
import { portOwner } from './port-owner.ts';
import type { Subject } from './subject.ts';

/** A clock that is further off than the answer took is a clock that is off. */
const CLOCK_MS = 1000;

/** Whether the ports can be bound, and if not, who has them. */
export async function lookAtPorts({ settings: { http, grpc, tls }, system }: Subject): Promise<Look[]> {
  const { host } = http;
  const isTls = tls.certFile !== '';
  const there = await lookAtPort({ name: 'http.port', host, port: http.port }, () =>
    askNode({ host, port: http.port, isTls, nowMs: system.nowMs }),
  );
  // gRPC has no question everyone answers: whose HTTP port it belongs to tells the node of that port.
  const grpcLook = await lookAtPort({ name: 'grpc.port', host, port: grpc.port }, async () =>
    there.node?.grpcPort === grpc.port ? there.node : undefined,
  );
  return [there.look, grpcLook.look];
}

interface Place {
  name: 'http.port' | 'grpc.port';
  host: string;
  port: number;
}

async function lookAtPort(
  place: Place,
  ask: () => Promise<NodeThere | undefined>,
): Promise<{ look: Look; node?: NodeThere | undefined }> {
  const { name, host, port } = place;
  if (port === 0) return { look: ok(`${name} is 0: any free one`) };
  const refusal = await tryToBind(host, port);
  if (refusal === undefined) return { look: ok(`${name} ${port} is free on ${host}`) };
  if (refusal !== 'EADDRINUSE')
    return { look: problem(`${name} ${port} cannot be bound on ${host}: ${refusal}`, remedyFor(refusal, place)) };
  const node = await ask();
  const another = `choose another with --${name.replace('.', '-')} N (0 takes any free one)`;
  if (node)
    return { look: warning(tellNode(place, node), `nothing, if that is the node you mean; else ${another}`), node };
  const owner = (await portOwner(port)) ?? 'another program';
  return { look: problem(`${name} ${port} is taken by ${owner}`, another) };
}

function remedyFor(refusal: string, { name, port }: Place): string {
  if (refusal === 'EACCES')
    return `choose a port above 1023 with --${name.replace('.', '-')} N, or allow it: "sysctl net.ipv4.ip_unprivileged_port_start=${port}"`;
  return 'set http.host (--http-host HOST) to an address of this machine: "ip address" lists them';
}

function tellNode({ name, port }: Place, { version, clockOffsetMs }: NodeThere): string {
  const taken = `${name} ${port} is taken by a Porthole node that runs already`;
  if (version === undefined) return `${taken}, and asks for a token`;
  if (clockOffsetMs === undefined || Math.abs(clockOffsetMs) < CLOCK_MS) return `${taken}, version ${version}`;
  const seconds = (Math.abs(clockOffsetMs) / 1000).toFixed(1);
  return `${taken}, version ${version}; its clock is ${seconds} s ${clockOffsetMs > 0 ? 'ahead' : 'behind'}`;
}

/** What the system says against it, or `undefined`; the port is given back at once. */
function tryToBind(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
