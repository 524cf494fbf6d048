import type { Client, ClusterFollowItem } from '@porthole/client';
import { isPattern } from '@porthole/contract';
import { KEPT, Shared } from '@porthole/logs/shared';
import type { SourceChoice } from '../../state/view.ts';
import { ClusterSource } from './cluster-source.ts';
import type { Extent, FollowRequest, LogSource, ShownRecord } from './log-source.ts';

export interface SourceDeps {
  client: Client;
  labels: readonly string[];
}

/** The source of the chosen logs; all logs of all nodes if none is chosen. With labels, of the nodes that have them. */
export function createSource(choices: readonly SourceChoice[], deps: SourceDeps): LogSource {
  const { client, labels } = deps;
  if (choices.length === 0)
    return new ClusterSource({ client, members: labels.length === 0 ? { nodes: ['*'] } : { labels }, log: null });
  const nodes = [...new Set(choices.map(({ node }) => node).filter((node) => !isPattern(node)))];
  return new LateSource(nodes, async () => {
    const { openChosen } = await import('./chosen-source.ts');
    return openChosen(choices, { ...deps, nodes });
  });
}

/** A source whose script is loaded with its first request. */
class LateSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #load: () => Promise<LogSource>;
  readonly #loading = new Shared<LogSource>(KEPT);
  #source: LogSource | undefined;

  constructor(nodes: readonly string[], load: () => Promise<LogSource>) {
    this.nodes = nodes;
    this.#load = load;
  }

  page: LogSource['page'] = async (...request) => (await this.#loaded()).page(...request);
  histogram: LogSource['histogram'] = async (...request) => (await this.#loaded()).histogram(...request);
  fields: LogSource['fields'] = async (...request) => (await this.#loaded()).fields(...request);
  top: LogSource['top'] = async (...request) => (await this.#loaded()).top(...request);
  extent: LogSource['extent'] = async (...request) => (await this.#loaded()).extent(...request);

  async *follow(request: FollowRequest, options: { signal: AbortSignal }): AsyncGenerator<ClusterFollowItem[]> {
    yield* (await this.#loaded()).follow(request, options);
  }

  fractionAt(record: ShownRecord, extent: Extent): number | undefined {
    return this.#source?.fractionAt(record, extent);
  }

  async #loaded(): Promise<LogSource> {
    this.#source ??= await this.#loading.run(this.#load);
    return this.#source;
  }
}
