import type { SeenFile } from './list.ts';

/**
 * Links of a listing that lead to another file of it, with the name of that file. Such a link is the same log:
 * `current` beside `app.log`.
 */
export function findLinkTargets(files: readonly SeenFile[]): ReadonlyMap<string, string> {
  const links = files.filter(({ isLink }) => isLink);
  const targets = new Map<string, string>();
  if (links.length === 0) return targets;
  // By number, not by name: a link may lead to its target through others.
  const numbers = new Set(links.map(({ stats }) => stats.ino));
  const linked = files.filter(({ isLink, stats }) => !isLink && numbers.has(stats.ino));
  for (const { name, stats } of links) {
    const target = linked.find((file) => file.stats.ino === stats.ino && file.stats.dev === stats.dev);
    if (target) targets.set(name, target.name);
  }
  return targets;
}

/**
 * The families of a listing without those that consist of nothing but links to others. A link that is known by its name
 * to belong to a family, as glog's, stays in it.
 */
export function withoutLinkedFamilies<T extends { files: readonly string[] }>(
  families: readonly T[],
  listed: readonly SeenFile[],
): readonly T[] {
  const targets = findLinkTargets(listed);
  if (targets.size === 0) return families;
  return families.filter(({ files }) => files.length === 0 || files.some((name) => !targets.has(name)));
}
