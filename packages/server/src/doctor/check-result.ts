/** What one look has found. */
export interface CheckResult {
  /** What was looked at, in words for people: `log directory`. */
  name: string;
  /** `warning`: works, but should be known. `problem`: does not work, or not as it should. */
  state: 'ok' | 'warning' | 'problem';
  detail: string;
  /** What exactly to do about it: the setting or the command. */
  remedy?: string;
}

/** A finding before it is told what it is about. */
export type CheckOutcome = Omit<CheckResult, 'name'>;

export function ok(detail: string): CheckOutcome {
  return { state: 'ok', detail };
}

export function warning(detail: string, remedy: string): CheckOutcome {
  return { state: 'warning', detail, remedy };
}

export function problem(detail: string, remedy: string): CheckOutcome {
  return { state: 'problem', detail, remedy };
}
