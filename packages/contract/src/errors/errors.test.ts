import { describe, expect, it } from 'vitest';
import { getMemberRoute, MEMBER_ROUTE_IDS } from '../routes/member-routes.ts';
import { COMMON_ERRORS, getRoute, ROUTE_IDS } from '../routes/routes.ts';
import { CLIENT_ERRORS, codeOf, ERROR_KINDS, type ErrorCode, isErrorCode, PortholeError, toProblem } from './errors.ts';

const codes = Object.keys(ERROR_KINDS) as ErrorCode[];

describe('the closed list of errors', () => {
  it.each(codes)('%s has a status of failure, and a title', (code) => {
    const { http, title, retryable } = ERROR_KINDS[code];
    expect(http).toBeGreaterThanOrEqual(400);
    expect(http).toBeLessThan(600);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    // What is the client's fault does not get better by asking again; only the moment can.
    if (http < 500 && ![408, 429].includes(http)) expect(retryable).toBe(false);
  });

  it('is used: each code belongs to some route, or to clients', () => {
    const given = new Set([
      ...CLIENT_ERRORS,
      ...COMMON_ERRORS,
      'ROUTE_NOT_FOUND',
      ...ROUTE_IDS.flatMap((id) => getRoute(id).errors),
      ...MEMBER_ROUTE_IDS.flatMap((id) => getMemberRoute(id).errors),
    ]);
    expect(codes.filter((code) => !given.has(code))).toEqual([]);
  });

  it('knows its own codes and no others', () => {
    expect(isErrorCode('BAD_REQUEST')).toBe(true);
    for (const other of ['ENOENT', 'toString', '__proto__', '', 400, undefined, null])
      expect(isErrorCode(other)).toBe(false);
  });
});

describe('the code of what was thrown', () => {
  it.each([
    [new PortholeError('SIZE_INVALID', 'x'), 'SIZE_INVALID'],
    [Object.assign(new Error('x'), { code: 'LOG_FILE_NOT_FOUND' }), 'LOG_FILE_NOT_FOUND'],
    [Object.assign(new Error('x'), { code: 'ENOENT' }), 'INTERNAL'],
    [new Error('x'), 'INTERNAL'],
    [{ code: 'SIZE_INVALID' }, 'INTERNAL'],
    ['SIZE_INVALID', 'INTERNAL'],
    [undefined, 'INTERNAL'],
  ])('%o is %s', (thrown, code) => {
    expect(codeOf(thrown)).toBe(code);
  });
});

describe('a problem', () => {
  it('contains the message that was written for the client', () => {
    expect(toProblem(new PortholeError('SIZE_INVALID', 'size must be positive'))).toEqual({
      type: '/docs#SIZE_INVALID',
      title: 'Size not valid',
      status: 400,
      detail: 'size must be positive',
      code: 'SIZE_INVALID',
    });
  });

  it.each([new Error('/home/ann/secret'), 'a secret', new PortholeError('INTERNAL', 'a secret')])(
    'contains nothing else: %o',
    (thrown) => {
      const problem = toProblem(thrown);
      expect(problem).toMatchObject({ status: 500, code: 'INTERNAL' });
      expect(JSON.stringify(problem)).not.toContain('secret');
    },
  );

  it('keeps the cause for the log', () => {
    const cause = new Error('disk');
    expect(new PortholeError('CONFIG_UNAVAILABLE', 'x', { cause }).cause).toBe(cause);
  });
});
