import { onTestFinished, vi } from 'vitest';

/** No time passes for the rest of a test: what is allowed each second is not allowed again, however slow the machine. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
}
