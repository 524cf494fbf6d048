/** Where a request or a record belongs in a distributed trace. */
export interface TraceContext {
  /** As in the header, without what later versions add to it. */
  traceparent: string;
  /** 32 and 16 lower-case hexadecimal digits, not all of them 0. */
  traceId: string;
  spanId: string;
  flags: number;
}

/** `version-trace-parent-flags`; later versions may have more behind a dash, the first one has not. */
const TRACEPARENT = /^(?!ff|00-.{52}-)([\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-([\da-f]{2}))(?:-.*)?$/s;

/** The W3C trace context of a header `traceparent`; `undefined` if it is not exactly one. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, traceparent, traceId, spanId, flags] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceparent === undefined || traceId === undefined || spanId === undefined) return undefined;
  return { traceparent, traceId, spanId, flags: Number.parseInt(flags ?? '', 16) };
}
