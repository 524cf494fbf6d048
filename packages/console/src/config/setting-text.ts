import type { SettingJson } from '@porthole/client';
import { MASK } from './toml-tokens.ts';

/** A value as it is shown. */
export interface ShownValue {
  text: string;
  /** `absent` and `empty` describe the value; they are not the value itself. */
  kind: 'value' | 'absent' | 'empty' | 'secret';
  /** The first characters of a secret's fingerprint. */
  fingerprint: string | null;
}

/** Enough to distinguish two fingerprints; the title has all of it. */
const SHORT_FINGERPRINT = 4;

/** How the cluster encodes a masked value with its fingerprint. */
const FINGERPRINT = /^(.*) \(fingerprint (\S+)\)$/s;

/** Secrets stay masked: their values never reach the browser. */
export function showValue(value: SettingJson | null): ShownValue {
  if (value === null) return { text: 'absent', kind: 'absent', fingerprint: null };
  if (value === '') return { text: 'empty', kind: 'empty', fingerprint: null };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!text.includes(MASK)) return { text, kind: 'value', fingerprint: null };
  const [, masked = text, fingerprint = null] = FINGERPRINT.exec(text) ?? [];
  return { text: masked, kind: 'secret', fingerprint };
}

export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, SHORT_FINGERPRINT);
}
