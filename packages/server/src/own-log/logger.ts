import { type CallSite, createCallSite } from './call-site.ts';
import { formatRecord, isAtLeast, type LogLevel } from './format-record.ts';
import type { LocalTime } from './local-time.ts';

/** Adds one record. Never throws and never waits for the disk. */
export type LogMethod = (tag: string, message: string, context?: Readonly<Record<string, unknown>>) => void;

/** The logger of one component of the node. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  /** For context that is costly to collect. */
  isEnabled(level: LogLevel): boolean;
}

interface LoggerOptions {
  readonly level: LogLevel;
  readonly time: LocalTime;
  readonly now: () => number;
  /** Receives the formatted line. */
  readonly write: (record: string) => void;
  /** Called when a record could not be formatted. */
  readonly onError: (thrown: unknown) => void;
}

/** The loggers it creates share one cache of call sites. */
export function createLoggers(options: LoggerOptions): (component: string) => Logger {
  const callSite = createCallSite();
  return (component) => ({
    debug: createMethod('debug', { ...options, component, callSite }),
    info: createMethod('info', { ...options, component, callSite }),
    warn: createMethod('warn', { ...options, component, callSite }),
    error: createMethod('error', { ...options, component, callSite }),
    isEnabled: (level) => isAtLeast(level, options.level),
  });
}

interface MethodOptions extends LoggerOptions {
  readonly component: string;
  readonly callSite: CallSite;
}

function createMethod(level: LogLevel, options: MethodOptions): LogMethod {
  if (!isAtLeast(level, options.level)) return () => {};
  const { component, callSite, time, now, write, onError } = options;
  const method: LogMethod = (tag, message, context) => {
    try {
      const source = callSite(method);
      write(formatRecord({ time: time.format(now()), level, source, component, tag, message, context }));
    } catch (thrown) {
      // For example a stack overflow: a log call must never throw.
      onError(thrown);
    }
  };
  return method;
}
