/** Where the node puts the path that this console is served below. */
const META = 'meta[name="porthole-base"]';

/** The page; tests and tools that only build links have none. */
const { document: page } = globalThis as unknown as {
  document?: { querySelector(selector: string): { content?: string } | null };
};

/** The path this console is served below, without a slash at the end: `/ops`. Empty at the root of the server. */
export const BASE_PATH = page?.querySelector(META)?.content ?? '';

/** A path of the node as a link of this page. */
export function linkTo(path: string): string {
  return BASE_PATH + path;
}

/** The URL of the node, as clients need it. */
export function nodeUrl({ origin }: { origin: string }): string {
  return origin + BASE_PATH;
}

/** A path of this server as a path of the node; `undefined` if it is outside the node. */
export function withoutBase(path: string, base: string = BASE_PATH): string | undefined {
  if (path === base) return '/';
  return path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
}
