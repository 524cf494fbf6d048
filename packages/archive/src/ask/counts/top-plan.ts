import { LEVELS } from '@porthole/contract';
import { type BuiltInField, resolveField } from '@porthole/logs/query';
import { quote } from '../../clickhouse/quote.ts';
import type { Question } from '../question.ts';
import { MESSAGE, TAGS } from '../row-columns.ts';
import { joined } from '../sql/bounds.ts';
import { plainLeaf } from '../sql/plain-leaf.ts';

/** Which rows SQL counts by a field, and which the engine has to read. */
export interface TopPlan {
  /** The different values of a row as an array in SQL, and the rows for which that is right; `undefined`: none. */
  bySql: { values: string; where: string } | undefined;
  /** All other rows that may match; `undefined`: none. */
  byEngine: string | undefined;
}

/** The different values of a column, as an array in SQL. */
const COLUMN_VALUES: Readonly<Record<BuiltInField, string>> = {
  level: `arrayFilter(name -> name IN (${LEVELS.map(quote).join(', ')}), [level])`,
  source: "arrayFilter(name -> name != '', [source])",
  component: `arrayFilter((tag, place) -> indexOf(${TAGS}, tag) = place, ${TAGS}, arrayEnumerate(${TAGS}))`,
  message: `[${MESSAGE}]`,
};

export function planTop({ where, decided, undecided }: Question, by: string): TopPlan {
  const ref = resolveField(by);
  if ('column' in ref)
    return {
      bySql: decided === undefined ? undefined : { values: COLUMN_VALUES[ref.column], where: decided },
      byEngine: undecided,
    };
  const plain = plainLeaf(ref.leaf);
  if (!plain || !decided) return { bySql: undefined, byEngine: where };
  const isNoPair = `position(${MESSAGE}, ${quote(`${ref.leaf}=`)}) = 0`;
  const isReadable = joined('OR', [plain.isThere, joined('AND', [plain.isMissing, isNoPair])]);
  const counted = joined('AND', [decided, isReadable]);
  return {
    bySql: { values: `arrayFilter(found -> ${plain.isThere}, [${plain.value}])`, where: counted },
    byEngine: joined('AND', [where, `NOT (${counted})`]),
  };
}
