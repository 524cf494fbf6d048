import { type ClusterState, PortholeError, parseBundleRequest, type RequestClock } from '@porthole/contract';
import type { BundleSources } from '../../bundle/bundle-context.ts';
import type { RouteHandler, StreamBody } from '../response/route-response.ts';
import { requireCluster } from './require-cluster.ts';

export interface BundleRouteOptions extends BundleSources {
  clock(): RequestClock;
}

/** Support bundles, one at a time: each fetches everything from all members. */
export function createBundleRoutes(
  cluster: ClusterState | undefined,
  options: BundleRouteOptions,
): Record<'bundle', RouteHandler> {
  const clusterFor = requireCluster(cluster);
  let isUnderWay = false;
  return {
    async bundle(request) {
      const all = clusterFor(request);
      const bundleRequest = parseBundleRequest(request.query, options.clock());
      const headers = { 'content-type': 'application/zip' };
      // How long it will be is only known when it is made.
      if (request.method === 'HEAD') return { status: 200, headers, stream: nothing() };
      if (isUnderWay)
        throw new PortholeError('BUNDLE_UNDER_WAY', 'this node is making a bundle, and makes one at a time');
      isUnderWay = true;
      const release = () => {
        isUnderWay = false;
      };
      try {
        // Loaded when needed: few nodes ever make one.
        const { openBundle } = await import('../../bundle/open-bundle.ts');
        const bundle = await openBundle(options, { cluster: all, request: bundleRequest, signal: request.signal });
        return {
          status: 200,
          headers: { ...headers, 'content-disposition': `attachment; filename="${bundle.fileName}"` },
          stream: { sizeBytes: undefined, chunks: bundle.chunks, close: () => bundle.close().finally(release) },
        };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function nothing(): StreamBody {
  return { sizeBytes: undefined, chunks: (async function* () {})(), close: async () => {} };
}
