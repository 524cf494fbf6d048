import type { ClusterConfigDiff, ConfigDifference } from '@porthole/client';
import { showValue } from '../../config/setting-text.ts';

/** A key in which nodes differ that should not. */
export interface DriftRow {
  role: string;
  key: string;
  /** The value that most have; `null` where none is that of most. */
  most: string | null;
  outliers: { value: string; nodes: readonly string[] }[];
}

/** Of every role, the keys whose values mean different things where they should not. */
export function driftRows({ roles }: ClusterConfigDiff): DriftRow[] {
  return roles.flatMap(({ role, differences }) =>
    differences.filter(isDrift).map((difference) => driftRow(role, difference)),
  );
}

function isDrift({ isExpected, values }: ConfigDifference): boolean {
  return !isExpected && values.some(({ isMajority, isSameMeaning }) => !isMajority && !isSameMeaning);
}

function driftRow(role: string, { key, values }: ConfigDifference): DriftRow {
  const majority = values.find(({ isMajority }) => isMajority);
  const others = values.filter((value) => value !== majority && !value.isSameMeaning);
  return {
    role,
    key,
    most: majority ? showValue(majority.value).text : null,
    outliers: others.map(({ value, nodes }) => ({ value: showValue(value).text, nodes })),
  };
}
