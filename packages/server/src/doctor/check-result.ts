/** What one check has found. */
export interface CheckResult {
  /** The check, for people: `log directory`. */
  name: string;
  /** `warning`: works, but needs attention. `problem`: does not work, or not as it should. */
  state: 'ok' | 'warning' | 'problem';
  detail: string;
  /** How to fix it: the setting or the command. */
  remedy?: string;
}

/** A result without the name of its check. */
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
