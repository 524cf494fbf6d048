import type { SettingKind, SettingScalar } from '../kinds/setting-kind.ts';

export interface SettingRow<N extends string = string, T extends SettingScalar = SettingScalar> {
  /** The key within its table of the file. */
  name: N;
  kind: SettingKind<T>;
  /** As in memory: milliseconds, bytes; a relative path counts from the working directory. */
  default: NoInfer<T>;
  /** What it does and what its special values mean. One or more sentences, Markdown without links. */
  about: string;
  /** Where `--section-name` would be clumsy. */
  flag?: string;
  /** Never shown, not even in an error. */
  secret?: true;
}

/** Keeps the literal name and the type of the value. */
export function setting<const N extends string, T extends SettingScalar>(row: SettingRow<N, T>): SettingRow<N, T> {
  return row;
}
