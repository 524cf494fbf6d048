import type { LogShipper, OtlpSink, ShipperStatus } from '@porthole/archive';
import { labelsOf, type NodeObject } from '@porthole/contract';
import type { LogDir } from '@porthole/logs';
import { ownDirs } from '../own-dirs.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { ownVersion } from '../version.ts';
import { checkShipping } from './archive-status.ts';

export interface NodeOtlpDeps {
  settings: Settings;
  logs: LogDir;
  /** The events of the node; `undefined`: none are kept. */
  events: LogDir | undefined;
  log: Logger;
}

/** Labels that have names of their own in OpenTelemetry. */
const KNOWN_LABELS: ReadonlyMap<string, string> = new Map([
  ['zone', 'cloud.availability_zone'],
  ['region', 'cloud.region'],
]);

/** Refusals are logged so often: the own log may be among the logs that are sent, and refused. */
const REFUSALS_MS = 600_000;

/** Sends the records and events of a running node to a receiver of OTLP: two shippers, with positions of their own. */
export class NodeOtlp {
  readonly #deps: NodeOtlpDeps;
  #parts: { shipper: LogShipper; sink: OtlpSink }[] = [];
  #refusedMs = -Infinity;

  constructor(deps: NodeOtlpDeps) {
    this.#deps = deps;
  }

  /** Of records and events together; `undefined` before the start. */
  get status(): ShipperStatus | undefined {
    const statuses = this.#parts.map(({ shipper }) => shipper.status());
    const [first, ...others] = statuses;
    return first && others.reduce(addStatus, first);
  }

  /** For `/health/ready`. */
  check(): { ok: boolean; detail: string } {
    const status = this.status && { ...this.status, progressProblem: undefined };
    return checkShipping(status, { maxLagMs: this.#deps.settings.ship.otlpMaxLagMs });
  }

  /** Starts sending, as this member. A receiver that does not respond does not prevent the start. */
  async start({ id, role, node }: { id: string; role: string; node: NodeObject }): Promise<void> {
    const { settings, logs, events } = this.#deps;
    const { LogShipper: Shipper, OtlpSink: Sink } = await import('@porthole/archive');
    const { ship, cluster } = settings;
    const version = ownVersion();
    const resource = resourceOf(settings, { id, role, hostName: node.hostName });
    const file = (path: string) => (path === '' ? undefined : path);
    for (const [name, dir] of [['logs', logs] as const, ['events', events] as const]) {
      if (!dir) continue;
      const isEvents = name === 'events';
      const sink = new Sink({
        url: ship.otlp,
        encoding: ship.otlpEncoding,
        compression: ship.otlpCompression,
        headersFile: file(ship.otlpHeadersFile),
        caFile: file(ship.otlpCaFile),
        certFile: file(ship.otlpCertFile),
        keyFile: file(ship.otlpKeyFile),
        timeoutMs: ship.otlpTimeoutMs,
        batchBytes: ship.otlpBatchBytes,
        source: { resource, scope: { name: isEvents ? 'porthole.events' : 'porthole', version } },
        isEvents,
        version,
      });
      const shipper = Shipper.open({
        logs: dir,
        sink,
        positionsDir: `${ownDirs(settings).otlp}/${name}`,
        ...{ cluster: cluster.name, node: id, role },
        intervalMs: () => ship.otlpIntervalMs,
        report: (problem) => this.#report(name, problem),
        onRefused: (refusal) => this.#noteRefused(name, refusal),
      });
      this.#parts.push({ shipper, sink });
    }
  }

  /** Lets a batch in flight end. */
  async close(): Promise<void> {
    await Promise.all(
      this.#parts.map(async ({ shipper, sink }) => {
        await shipper.close();
        sink.close();
      }),
    );
  }

  #report(what: string, problem: object | undefined): void {
    const { log } = this.#deps;
    if (problem) log.warn('ship', `${what} cannot be sent by OTLP`, { ...problem });
    else log.info('ship', `${what} are sent by OTLP again`);
  }

  #noteRefused(what: string, { records, detail }: { records: number; detail: string }): void {
    const nowMs = performance.now();
    if (nowMs - this.#refusedMs < REFUSALS_MS) return;
    this.#refusedMs = nowMs;
    const message = records > 0 ? 'the receiver of OTLP has refused records' : 'the receiver of OTLP has a remark';
    this.#deps.log.warn('ship', `${message}; more within ten minutes are only counted`, { what, records, detail });
  }
}

/** What OpenTelemetry calls what the node is: https://opentelemetry.io/docs/specs/semconv/resource */
function resourceOf(
  { ship, cluster, node }: Settings,
  { id, role, hostName }: { id: string; role: string; hostName: string },
): [string, string][] {
  return [
    ['service.name', ship.otlpService || cluster.name],
    ['service.namespace', cluster.name],
    ['service.instance.id', id],
    ['host.name', hostName],
    ['porthole.role', role],
    ...Object.entries(labelsOf(node.labels)).map(([key, value]): [string, string] => [
      KNOWN_LABELS.get(key) ?? `porthole.label.${key}`,
      value,
    ]),
  ];
}

function addStatus(one: ShipperStatus, other: ShipperStatus): ShipperStatus {
  return {
    problem: one.problem ?? other.problem,
    shippedRecords: one.shippedRecords + other.shippedRecords,
    shippedBytes: one.shippedBytes + other.shippedBytes,
    batches: one.batches + other.batches,
    retries: one.retries + other.retries,
    refusedRecords: one.refusedRecords + other.refusedRecords,
    lostBytes: one.lostBytes + other.lostBytes,
    losses: one.losses + other.losses,
    logs: [...one.logs, ...other.logs],
  };
}
