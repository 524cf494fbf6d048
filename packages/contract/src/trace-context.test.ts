import { expect, it } from 'vitest';
import { parseTraceparent } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

it('a traceparent has a trace, a span and flags; later versions may have more', () => {
  const parsed = { traceId: TRACE, spanId: SPAN, flags: 1 };
  expect(parseTraceparent(VALID)).toEqual({ traceparent: VALID, ...parsed });
  for (const more of ['', '-', '-what-ever\n'])
    expect(parseTraceparent(`cc${VALID.slice(2)}${more}`)).toEqual({ traceparent: `cc${VALID.slice(2)}`, ...parsed });
});

it.each([
  undefined,
  '',
  `${VALID}-`,
  `${VALID}-x`,
  `${VALID}\n`,
  ` ${VALID}`,
  `${VALID}, ${VALID}`,
  `ff${VALID.slice(2)}`,
  `cc${VALID.slice(2)}.x`,
  VALID.toUpperCase(),
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-1`,
  `00-${TRACE}-${SPAN}-0g`,
  `00-${TRACE.slice(1)}-${SPAN}-01`,
])('%j is none', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});
