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
  /** Beside the usual times: how long the node was told it may look at logs before it says anything. */
  lookingMs?: number;
  /** A whole response may be so long; as long as any item unless given. */
  maxBytes?: number;
  /** Whether what comes in pieces must come at a pace; a follow, or a search without a budget, may take its time. */
  isPaced?: boolean;
}

/** What every question is asked with. */
export interface ClientDeps {
  options: StrictOptions;
  clock: Clock;
  /** Stands in place of `/api/v1`: where a node of a cluster hands on what one member is asked. */
  pathPrefix?: string;
}
