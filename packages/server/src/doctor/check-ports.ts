import { createServer } from 'node:net'; // owner: a server that is closed at once; an error is the answer
import { createZone } from '@porthole/logs';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';
import { findPortOwner } from './open-files.ts';
import { type ProbedNode, probeNode } from './probe-node.ts';

/** Smaller clock differences may be due to the time the response took. */
const CLOCK_MS = 1000;

/** Whether the ports can be bound, and if not, which program holds them. */
export async function checkPorts({ settings: { http, grpc, tls }, system }: CheckContext): Promise<CheckOutcome[]> {
  const { host } = http;
  const isTls = tls.certFile !== '';
  const httpCheck: PortCheck =
    http.socket === ''
      ? await checkPort({ name: 'http.port', host, port: http.port }, () =>
          probeNode({ host, port: http.port, isTls, nowMs: system.nowMs }),
        )
      : { outcome: ok(`http.socket ${http.socket} is used instead of http.port`) };
  // What only the running node knows, like another one with its id.
  const reported = (httpCheck.node?.problems ?? []).map(({ check, detail }) =>
    warning(`the running node reports: ${check}: ${detail}`, '"porthole nodes" shows what else it reports'),
  );
  if (!grpc.enabled) return [httpCheck.outcome, ok('grpc.enabled is false: gRPC is off'), ...reported];
  // gRPC has no unauthenticated method to identify a node: request its gRPC port from the node on the HTTP port instead.
  const grpcCheck = await checkPort({ name: 'grpc.port', host, port: grpc.port }, async () =>
    httpCheck.node?.grpcPort === grpc.port ? httpCheck.node : undefined,
  );
  return [httpCheck.outcome, grpcCheck.outcome, ...reported];
}

interface PortCheck {
  outcome: CheckOutcome;
  node?: ProbedNode | undefined;
}

interface PortSetting {
  name: 'http.port' | 'grpc.port';
  host: string;
  port: number;
}

async function checkPort(setting: PortSetting, probe: () => Promise<ProbedNode | undefined>): Promise<PortCheck> {
  const { name, host, port } = setting;
  if (port === 0) return { outcome: ok(`${name} is 0: any free port`) };
  const refusal = await tryToBind(host, port);
  if (refusal === undefined) return { outcome: ok(`${name} ${port} is free on ${host}`) };
  if (refusal !== 'EADDRINUSE')
    return { outcome: problem(`${name} ${port} cannot be bound on ${host}: ${refusal}`, remedyFor(refusal, setting)) };
  const node = await probe();
  const another = `choose another one with --${name.replace('.', '-')} N (0: any free port)`;
  if (node)
    return {
      outcome: warning(describeNode(setting, node), `nothing to do if this is the node you mean; otherwise ${another}`),
      node,
    };
  const owner = (await findPortOwner(port)) ?? 'another program';
  return { outcome: problem(`${name} ${port} is in use by ${owner}`, another) };
}

function remedyFor(refusal: string, { name, port }: PortSetting): string {
  if (refusal === 'EACCES')
    return `choose a port above 1023 with --${name.replace('.', '-')} N, or allow it: "sysctl net.ipv4.ip_unprivileged_port_start=${port}"`;
  return 'set http.host (--http-host HOST) to an address of this machine: "ip address" lists them';
}

function describeNode({ name, port }: PortSetting, { version, clockOffsetMs }: ProbedNode): string {
  const taken = `${name} ${port} is in use by a running Porthole node`;
  if (version === undefined) return `${taken} that requires a token`;
  if (clockOffsetMs === undefined || Math.abs(clockOffsetMs) < CLOCK_MS) return `${taken}, version ${version}`;
  const seconds = (Math.abs(clockOffsetMs) / 1000).toFixed(1);
  return `${taken}, version ${version}; its clock is ${seconds} s ${clockOffsetMs > 0 ? 'ahead' : 'behind'}`;
}

/** The error code if the port cannot be bound, or `undefined`; the port is released at once. */
function tryToBind(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** File systems round timestamps, and clocks are adjusted in small steps. */
const TOLERANCE_MS = 60_000;

/** Whether the system time is plausible: this program cannot have been installed in the future. */
export async function checkClock({ system }: CheckContext): Promise<CheckOutcome[]> {
  const nowMs = system.nowMs();
  const now = new Date(nowMs).toISOString();
  const writtenMs = await system.programWrittenMs();
  if (nowMs >= writtenMs - TOLERANCE_MS) return [ok(`the time is ${now}`)];
  const written = new Date(writtenMs).toISOString();
  return [
    problem(
      `the time is ${now}, but this program was installed at ${written}: the clock is wrong`,
      'set the clock and keep it synchronized: "timedatectl set-ntp true"',
    ),
  ];
}

/** The zone of timestamps that have none. An invalid `node.time-zone` is already refused when settings are loaded. */
export async function checkTimeZone({ settings: { node }, env, system }: CheckContext): Promise<CheckOutcome[]> {
  const { name, offsetMsAt } = createZone(node.timeZone);
  const message = `log timestamps without a zone are read as ${name}, now ${formatOffset(offsetMsAt(system.nowMs()))}`;
  if (node.timeZone !== '') return [ok(`${message} (node.time-zone)`)];
  const { TZ } = env;
  if (TZ && !isZone(TZ.replace(/^:/, '')))
    return [
      warning(`${message}, because TZ=${JSON.stringify(TZ)} is not a time zone`, 'correct TZ, or set node.time-zone'),
    ];
  return [ok(`${message} (the system's zone)`)];
}

function isZone(name: string): boolean {
  try {
    createZone(name);
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}

function formatOffset(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`;
}
