import { buildOpenApi, PortholeError } from '@porthole/contract';
import { type Answer, jsonAnswer, type RouteHandler, textAnswer } from './answer.ts';
import { consoleAnswer } from './console-answer.ts';
import type { ConsoleFiles } from './console-files.ts';
import { ICON, STYLE } from './pages/assets.ts';
import { docsPage } from './pages/docs-page.ts';

type PageRouteId = 'console' | 'asset' | 'docs' | 'openapi' | 'style' | 'icon';

/** Only the console may run scripts, of its own origin and never inline; and no window that opened it can reach into it. */
const CONSOLE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
};

export interface PageRouteParts {
  consoleFiles: ConsoleFiles;
  version: string;
}

export function createPageRoutes({ consoleFiles, version }: PageRouteParts): Record<PageRouteId, RouteHandler> {
  // Made when first asked for, and once: putting it together keeps everybody else waiting for some milliseconds.
  let docs: Answer | undefined;
  let openApi: Answer | undefined;
  return {
    console: async ({ headers }) => consoleAnswer(await consoleFiles.page(), headers, CONSOLE_HEADERS),
    asset: async ({ headers, rest }) => {
      const file = await consoleFiles.asset(rest);
      if (!file) throw new PortholeError('ROUTE_NOT_FOUND', 'the console has no part of this name');
      return consoleAnswer(file, headers);
    },
    docs: () => {
      docs ??= textAnswer(docsPage({ version }), 'text/html; charset=utf-8');
      return docs;
    },
    openapi: () => {
      openApi ??= jsonAnswer(buildOpenApi({ version }));
      return openApi;
    },
    style: () => textAnswer(STYLE, 'text/css; charset=utf-8'),
    icon: () => textAnswer(ICON, 'image/svg+xml'),
  };
}
