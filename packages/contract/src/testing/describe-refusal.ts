import { codeOf, errorMessage } from '../errors/errors.ts';

/** A zone two hours east of Greenwich, at a fixed time. */
export const CLOCK = {
  nowMs: Date.UTC(2026, 10, 15, 12),
  offsetMsAt: () => 2 * 3_600_000,
};

/** `CODE: message` of what is thrown. */
export function describeRefusal(parse: () => unknown): string {
  try {
    return `accepted: ${JSON.stringify(parse())}`;
  } catch (error) {
    return `${codeOf(error)}: ${errorMessage(error)}`;
  }
}
