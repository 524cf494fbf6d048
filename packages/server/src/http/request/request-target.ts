import { PortholeError } from '@porthole/contract';

export interface RequestTarget {
  path: string;
  query: URLSearchParams;
  /** The authority of an absolute-form target; it counts instead of the Host header. */
  authority: string | undefined;
}

/** Takes the request target apart. No path is decoded or normalised: routes are compared as they are written. */
export function parseTarget(target: string): RequestTarget {
  if (target.startsWith('/')) return splitQuery(target, undefined);
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target);
  if (!absolute) throw new PortholeError('BAD_REQUEST', 'the request target is not a path');
  const [, authority = '', rest = ''] = absolute;
  return splitQuery(rest.startsWith('/') ? rest : `/${rest}`, authority);
}

function splitQuery(target: string, authority: string | undefined): RequestTarget {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: new URLSearchParams(), authority };
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)), authority };
}
