import { buildOpenApi, PortholeError } from '@porthole/contract';
import type { ConsoleFiles } from '../console-files.ts';
import { docsPage, ICON, STYLE } from '../pages/docs-page.ts';
import { consoleResponse } from '../response/console-response.ts';
import { jsonResponse, type RouteHandler, type RouteResponse, textResponse } from '../response/route-response.ts';

type PageRouteId = 'console' | 'asset' | 'docs' | 'openapi' | 'style' | 'icon';

/** Only the console may run scripts, from its own origin and never inline; windows that opened it have no access to it. */
const CONSOLE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
};

export interface PageRouteDeps {
  consoleFiles: ConsoleFiles;
  version: string;
  basePath?: string;
}

export function createPageRoutes({ consoleFiles, ...node }: PageRouteDeps): Record<PageRouteId, RouteHandler> {
  // Built once, on first use: it blocks the event loop for some milliseconds.
  let docs: RouteResponse | undefined;
  let openApi: RouteResponse | undefined;
  return {
    console: async ({ headers }) => consoleResponse(await consoleFiles.page(), headers, CONSOLE_HEADERS),
    asset: async ({ headers, rest }) => {
      const file = await consoleFiles.asset(rest);
      if (!file)
        throw new PortholeError(
          'ROUTE_NOT_FOUND',
          'console asset not found (the page is from another version; reload)',
        );
      return consoleResponse(file, headers);
    },
    docs: () => {
      docs ??= textResponse(docsPage(node), 'text/html; charset=utf-8');
      return docs;
    },
    openapi: () => {
      openApi ??= jsonResponse(buildOpenApi(node));
      return openApi;
    },
    style: () => textResponse(STYLE, 'text/css; charset=utf-8'),
    icon: () => textResponse(ICON, 'image/svg+xml'),
  };
}
