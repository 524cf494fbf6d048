import {
  type CallOptions,
  type ClusterNode,
  type ClusterState,
  coverageOf,
  familySource,
  type MemberSelection,
  missingText,
  PortholeError,
  type ResponseFacts,
  UNKNOWN_ROLE,
} from '@porthole/contract';
import type { LogqlLogs } from './logql.ts';

export type LokiLabels = Readonly<Record<string, string>>;

/** One log of one node: what Loki calls a stream, but for the level, which each record has. */
export interface LokiStream {
  node: string;
  log: string;
  labels: LokiLabels;
  files: StreamFile[];
}

interface StreamFile {
  size: number;
  firstTimeMs: number | null;
  lastTimeMs: number | null;
}

/** Logs that one query reads, unless it reads all: as many as a request selects. */
const MAX_LOGS = 64;

/** Warnings of a response; Grafana shows each as a banner. */
const MAX_WARNINGS = 20;

/** The nodes and logs that the braces of a query select. */
export class Streams {
  readonly streams: readonly LokiStream[];
  /** What requests select; `undefined`: nothing is selected, and nothing is to be asked. */
  readonly selection: MemberSelection | undefined;
  /** The logs that are selected, one request for each; `undefined`: all of them, in one. */
  readonly logs: readonly string[] | undefined;
  /** The names of all labels of nodes. */
  readonly nodeLabels: ReadonlySet<string>;
  /** What is not known. */
  readonly warnings = new Set<string>();
  readonly #nodes: ReadonlyMap<string, LokiLabels>;
  readonly #logOf: ReadonlyMap<string, string>;

  static async find(cluster: ClusterState, logs: LogqlLogs, options: CallOptions): Promise<Streams> {
    const found = await cluster.nodes(options);
    const labels = new Map(found.nodes.map((node) => [node.id, nodeLabels(found.cluster, node)]));
    const ofNodes = logs.matchers.filter(({ name }) => name !== 'log');
    const fits = (id: string, matchers = ofNodes) =>
      matchers.every(({ name, test }) => test(labels.get(id)?.[name] ?? ''));
    const selected = [...labels.keys()].filter((id) => fits(id));
    // Without names, what only the archive has is found, too.
    const selection = selected.length === labels.size ? {} : { nodes: selected };
    const files = selected.length === 0 ? { files: [], members: [] } : await cluster.logFiles(selection, options);
    const streams = new Streams(labels, { files, logs, selection: selected.length === 0 ? undefined : selection });
    const named = ofNodes.filter(({ name }) => name === 'node' || name === 'cluster');
    for (const { id, role } of found.nodes)
      if (role === UNKNOWN_ROLE && !fits(id) && fits(id, named))
        streams.warnings.add(`${id}: its role and labels are not known`);
    return streams;
  }

  private constructor(
    nodes: ReadonlyMap<string, LokiLabels>,
    { files, logs: { matchers, filteredFields }, selection }: FoundFiles,
  ) {
    this.#nodes = nodes;
    this.nodeLabels = new Set([...nodes.values()].flatMap((labels) => Object.keys(labels)));
    for (const name of filteredFields)
      if (this.nodeLabels.has(name))
        throw new PortholeError('QUERY_INVALID', `not supported here: "${name}" behind a pipe: put it into the braces`);
    this.warn(files);
    this.#logOf = new Map(files.files.map(({ node, name, family }) => [fileKey(node, name), family]));
    const logMatchers = matchers.filter(({ name }) => name === 'log');
    const streams = new Map<string, LokiStream>();
    for (const file of files.files) {
      const { node, family: log } = file;
      if (!logMatchers.every(({ test }) => test(log))) continue;
      const labels = { ...this.labelsOf(node), log };
      const stream: LokiStream = streams.get(fileKey(node, log)) ?? { node, log, labels, files: [] };
      streams.set(fileKey(node, log), stream);
      stream.files.push(file);
    }
    this.streams = [...streams.values()];
    const logs = [...new Set(this.streams.map(({ log }) => log))].sort();
    this.logs = logMatchers.length === 0 ? undefined : logs;
    this.selection = this.logs?.length === 0 ? undefined : selection;
  }

  labelsOf(node: string): LokiLabels {
    return this.#nodes.get(node) ?? { node };
  }

  /** The log that a file belongs to. */
  logOf(node: string, file: string): string {
    return this.#logOf.get(fileKey(node, file)) ?? file;
  }

  /** The selected logs, as a request names them. */
  requestedLogs(): { src?: readonly string[] } {
    if (this.logs && this.logs.length > MAX_LOGS)
      throw new PortholeError(
        'QUERY_INVALID',
        `the query selects ${this.logs.length} logs; at most ${MAX_LOGS} can be selected, or all`,
      );
    return this.logs ? { src: this.logs.map(familySource) } : {};
  }

  /** Notes what a response lacks; a limit is what was asked for. */
  warn(response: ResponseFacts): void {
    for (const part of coverageOf(response).missing)
      if (part.reason !== 'limit' && !part.isExpected) this.warnings.add(missingText(part));
  }

  /** Loki's `warnings`. */
  listWarnings(): string[] {
    const all = [...this.warnings];
    if (all.length <= MAX_WARNINGS) return all;
    return [...all.slice(0, MAX_WARNINGS - 1), `${all.length - MAX_WARNINGS + 1} more warnings`];
  }
}

interface FoundFiles {
  files: Awaited<ReturnType<ClusterState['logFiles']>>;
  logs: LogqlLogs;
  selection: MemberSelection | undefined;
}

/** Labels have letters, digits and underscores only. */
export function labelName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
}

function nodeLabels(cluster: string, { id, role, labels }: ClusterNode): LokiLabels {
  const own = Object.entries(labels).map(([name, value]) => [labelName(name), value] as const);
  return { ...Object.fromEntries(own), cluster, node: id, role };
}

/** Ids of nodes have no spaces. */
function fileKey(node: string, name: string): string {
  return `${node} ${name}`;
}
