/** Fields that are columns of a record. */
export const BUILT_IN_FIELDS = ['level', 'source', 'component', 'message'] as const;

export type BuiltInField = (typeof BUILT_IN_FIELDS)[number];

/** What a field's name in a query refers to: a column, or a leaf of the context or `key=value` pair with this path. */
export type FieldRef = { column: BuiltInField } | { leaf: string };

/** Means the leaf, also if a column has its name. */
const LEAF_PREFIX = 'context.';

export function resolveField(name: string): FieldRef {
  if (isBuiltIn(name)) return { column: name };
  return { leaf: name.startsWith(LEAF_PREFIX) ? name.slice(LEAF_PREFIX.length) : name };
}

/** The shortest name that refers to the leaf. */
export function leafName(path: string): string {
  return isBuiltIn(path) || path.startsWith(LEAF_PREFIX) ? LEAF_PREFIX + path : path;
}

/** The name as responses report it: `shard` for `context.shard`. */
export function canonicalField(name: string): string {
  const field = resolveField(name);
  return 'column' in field ? field.column : leafName(field.leaf);
}

function isBuiltIn(name: string): name is BuiltInField {
  return (BUILT_IN_FIELDS as readonly string[]).includes(name);
}
