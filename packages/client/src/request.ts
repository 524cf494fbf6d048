import type { ResponseBudget } from '@porthole/contract';
import type { StrictOptions } from './client-options.ts';
import type { Clock } from './clock.ts';

/** The variable part of a request. */
export interface ClientRequest {
  /** Path of the route below the base address. */
  path: string;
  /** A GET with parameters too long for a URL is sent as a POST, if the route accepts it. */
  method?: 'GET' | 'HEAD' | 'DELETE';
  query?: URLSearchParams;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Overrides the one of the client. */
  responseBudget?: ResponseBudget | undefined;
  /** Added to the timeouts: how long the node may scan before it responds. */
  scanMs?: number;
  /** Maximum size of a whole response; default: that of an item. */
  maxBytes?: number;
  /** Whether a stream must keep a minimum pace; not for a follow, or a search without a budget. */
  isPaced?: boolean;
}

/** What every request needs. */
export interface ClientDeps {
  options: StrictOptions;
  clock: Clock;
  /** Replaces `/api/v1`: the path below which a node forwards requests to one member. */
  pathPrefix?: string;
}
