import { AROUND_DOCS, BUNDLE_DOCS, CLUSTER_DOCS, DOWNLOAD_DOCS, MEMBER_DOCS, STORE_DOCS } from './docs/cluster-docs.ts';
import { COUNT_DOCS } from './docs/count-docs.ts';
import { FILE_DOCS, FILTER_DOCS, FOLLOW_DOCS, PAGE_DOCS, SEARCH_DOCS, SELECTION_DOCS } from './docs/record-docs.ts';
import type { DocsKey, Parameter, ParameterRow } from './parameter.ts';

const DOCS = {
  ...SELECTION_DOCS,
  ...FILTER_DOCS,
  ...PAGE_DOCS,
  ...SEARCH_DOCS,
  ...FOLLOW_DOCS,
  ...COUNT_DOCS,
  ...FILE_DOCS,
  ...MEMBER_DOCS,
  ...STORE_DOCS,
  ...CLUSTER_DOCS,
  ...AROUND_DOCS,
  ...DOWNLOAD_DOCS,
  ...BUNDLE_DOCS,
};

/** Rows joined with their docs. Does not compile for a row without docs. */
export function documentParameters<const Rows extends readonly ParameterRow[]>(
  rows: Rows & ([DocsKey<Rows[number]>] extends [keyof typeof DOCS] ? unknown : never),
): readonly Parameter[] {
  return rows.map((row) => ({ ...row, ...DOCS[(row.docs ?? row.name) as keyof typeof DOCS] }));
}
