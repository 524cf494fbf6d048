import type { ConfigDifference } from '../cluster-state.ts';

/** Whether members differ in a key in which they should not, and not only in how they write the same value. */
export function isDrift({ isExpected, values }: Pick<ConfigDifference, 'isExpected' | 'values'>): boolean {
  return !isExpected && values.some(({ isMajority, isSameMeaning }) => !isMajority && !isSameMeaning);
}
