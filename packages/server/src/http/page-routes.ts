import { buildOpenApi, type NodeState, toProblem } from '@porthole/contract';
import type { LogFileDetails } from '@porthole/logs';
import type { Health } from '../health.ts';
import { jsonAnswer, type RouteHandler, textAnswer } from './answer.ts';
import { ICON, STYLE } from './pages/assets.ts';
import { docsPage } from './pages/docs-page.ts';
import { type HomeFacts, homePage } from './pages/home-page.ts';

type PageRouteId = 'home' | 'docs' | 'openapi' | 'style' | 'icon';

/** Of the newest file, on the front page. */
const NEWEST_BYTES = 4096;

const NOT_TEXT: ReadonlySet<LogFileDetails['format']> = new Set(['binary', 'empty', 'unreadable']);

export interface PageRouteParts {
  node: NodeState;
  health: Health;
  version: string;
}

export function createPageRoutes({ node, health, version }: PageRouteParts): Record<PageRouteId, RouteHandler> {
  return {
    home: async ({ signal }) =>
      textAnswer(homePage(await gatherFacts(node, health, signal)), 'text/html; charset=utf-8'),
    docs: () => textAnswer(docsPage({ version }), 'text/html; charset=utf-8'),
    openapi: () => jsonAnswer(buildOpenApi({ version })),
    style: () => textAnswer(STYLE, 'text/css; charset=utf-8'),
    icon: () => textAnswer(ICON, 'image/svg+xml'),
  };
}

/** A part that fails is told on the page, and does not keep the rest from being shown. */
async function gatherFacts(node: NodeState, health: Health, signal: AbortSignal): Promise<HomeFacts> {
  const problem = (error: unknown) => ({ problem: toProblem(error).detail });
  const [description, readiness, files, config] = await Promise.all([
    node.describe({ signal }),
    health.check(),
    node.logFiles({ signal }).catch(problem),
    node.config({ signal }).then((answer) => answer.config, problem),
  ]);
  const newest = 'problem' in files ? undefined : await newestLines(node, files, signal).catch(() => undefined);
  return { description, readiness, files, config, newest };
}

async function newestLines(
  node: NodeState,
  files: LogFileDetails[],
  signal: AbortSignal,
): Promise<HomeFacts['newest']> {
  const shown = files.filter(({ format }) => !NOT_TEXT.has(format));
  const latest = shown.sort((a, b) => b.modifiedMs - a.modifiedMs)[0];
  if (!latest) return undefined;
  const view = await node.viewLog({ file: latest.name, sizeBytes: NEWEST_BYTES }, { signal });
  try {
    const parts: Buffer[] = [];
    for await (const chunk of view.chunks) parts.push(Buffer.from(chunk));
    return { file: latest.name, text: Buffer.concat(parts).toString('utf8') };
  } finally {
    await view.close();
  }
}
