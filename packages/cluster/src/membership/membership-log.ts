type LogMethod = (tag: string, message: string, context?: Readonly<Record<string, unknown>>) => void;

/** As much of the node's own log as a membership needs. */
export interface MembershipLog {
  readonly info: LogMethod;
  readonly warn: LogMethod;
}
