import type { ClusterConfigDiff, ConfigDifference } from '@porthole/client';
import { isDrift } from '@porthole/contract';
import { showValue } from '../../config/setting-values.ts';

/** A key that differs unexpectedly. */
export interface DriftRow {
  role: string;
  key: string;
  /** The majority value; `null` if there is none. */
  most: string | null;
  outliers: { value: string; nodes: readonly string[] }[];
}

/** The keys of every role whose values differ in meaning and should not. */
export function driftRows({ roles }: ClusterConfigDiff): DriftRow[] {
  return roles.flatMap(({ role, differences }) =>
    differences.filter(isDrift).map((difference) => driftRow(role, difference)),
  );
}

function driftRow(role: string, { key, values }: ConfigDifference): DriftRow {
  const majority = values.find(({ isMajority }) => isMajority);
  const others = values.filter((value) => value !== majority && !value.isSameMeaning && !value.isNotCompared);
  return {
    role,
    key,
    most: majority ? showValue(majority.value).text : null,
    outliers: others.map(({ value, nodes }) => ({ value: showValue(value).text, nodes })),
  };
}
