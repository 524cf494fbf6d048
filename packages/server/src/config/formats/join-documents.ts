import type { ConfigDocument, ConfigLeaf, ConfigTable, ConfigTree, TreeEntry } from './config-document.ts';

type Entry = TreeEntry<ConfigLeaf>;
type Tree = ConfigTree<ConfigLeaf>;

/** A text, and the texts that its include directives name. */
export interface IncludingDocument {
  document: ConfigDocument;
  /** By the position of the directive's value. */
  includes: ReadonlyMap<number, readonly IncludingDocument[]>;
}

/**
 * The settings of several texts as one table, the later ones replacing or adding to the earlier, as their format has it.
 * What a directive includes takes the place of the directive.
 */
export function joinDocuments(files: readonly IncludingDocument[]): ConfigTable {
  const repeatsAdd = files.some(({ document }) => document.language.repeatsAdd);
  return { path: [], entries: joinEntries(files.flatMap(expandFile), repeatsAdd) };
}

function expandFile({ document, includes }: IncludingDocument): Entry[] {
  const expand = (entries: readonly Entry[]): Entry[] =>
    entries.flatMap((entry) => {
      const { node } = entry;
      if (node.kind === 'table') return [{ ...entry, node: { ...node, entries: expand(node.entries) } }];
      const included = node.kind === 'leaf' ? includes.get(node.leaf.start) : undefined;
      return included ? [entry, ...included.flatMap(expandFile)] : [entry];
    });
  return document.tables.flatMap(({ path, entries }) =>
    expand(entries).map((entry) => ({ ...entry, names: [...path.map(String), ...entry.names] })),
  );
}

/** Tables within tables, each name once. */
function joinEntries(entries: readonly Entry[], repeatsAdd: boolean): Entry[] {
  const groups = new Map<string, { nodes: Tree[]; isNamed: boolean }>();
  for (const { names, node } of entries) {
    const [name = '', ...rest] = names;
    const group = groups.get(name) ?? { nodes: [], isNamed: true };
    group.nodes.push(rest.length > 0 ? { kind: 'table', entries: [{ names: rest, node }] } : node);
    group.isNamed &&= rest.length > 0;
    groups.set(name, group);
  }
  const joined: Entry[] = [];
  for (const [name, { nodes, isNamed }] of groups) {
    const tables = nodes.filter((node) => node.kind === 'table');
    const others = nodes.filter((node) => node.kind !== 'table');
    // `location /a` and `location /b` are two names; two blocks without one are a list.
    const isList = repeatsAdd && nodes.length > 1 && !isNamed;
    if (isList)
      joined.push({ names: [name], node: { kind: 'list', items: nodes.map((node) => join(node, repeatsAdd)) } });
    else if (others.length === 0)
      joined.push({
        names: [name],
        node: join({ kind: 'table', entries: tables.flatMap((table) => table.entries) }, repeatsAdd),
      });
    else {
      const last = others.at(-1);
      if (last) joined.push({ names: [name], node: join(last, repeatsAdd) });
      // Properties can have `a` and `a.b`: a value cannot be a table too.
      for (const inner of joinEntries(
        tables.flatMap((table) => table.entries),
        repeatsAdd,
      ))
        joined.push({ ...inner, names: [`${name}.${inner.names[0] ?? ''}`] });
    }
  }
  return joined;
}

function join(node: Tree, repeatsAdd: boolean): Tree {
  if (node.kind === 'table') return { kind: 'table', entries: joinEntries(node.entries, repeatsAdd) };
  return node.kind === 'list' ? { kind: 'list', items: node.items.map((item) => join(item, repeatsAdd)) } : node;
}
