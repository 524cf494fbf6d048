import { Scrubbing } from '@porthole/logs';
import { type MaskingOptions, MemberMasking } from '../contract-only/member-masking.ts';

/** Masks nothing by default. */
export function fakeMasking(options: Partial<MaskingOptions> = {}): MemberMasking {
  return new MemberMasking({
    mask: (text) => text,
    maskSource: async (text) => text,
    findSecrets: () => [],
    scrubbing: new Scrubbing(),
    ...options,
  });
}
