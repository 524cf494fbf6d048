import { expect, it } from 'vitest';
import { isOwnFault } from './guard-host.ts';

const LIB = '/srv/my app/node_modules/porthole/lib/';

const OURS = '    at ResponseWriter.end (file:///srv/my%20app/node_modules/porthole/lib/chunk-A.js:1:2)';
const OURS_ASYNC = '    at async /srv/my app/node_modules/porthole/lib/main.js:1:2';
const OTHER = '    at Layer.handle (/srv/my app/node_modules/express/lib/layer.js:95:5)';
const HOST = '    at async main (file:///srv/my%20app/server.js:12:3)';
const NODE = '    at ServerResponse.end (node:_http_outgoing:1047:15)';
const NOWHERE = '    at async Promise.all (index 0)';

it.each([
  ['our own code', [OURS], true],
  ['our own code, called by Node.js', [NODE, OURS, NODE], true],
  ['our own code, through promises', [OURS, NOWHERE, OURS_ASYNC], true],
  ['our own code, and a package between', [OTHER, OURS], true],
  ['our own code that the program has called', [OURS, HOST], false],
  ['the program', [HOST], false],
  ['the program, called by us', [HOST, OURS], false],
  ['another package', [OTHER, NODE], false],
  ['Node.js', [NODE, NOWHERE], false],
  ['nothing that is known', [], false],
])('an error of %s', (_name, frames, expected) => {
  const stack = ['TypeError: a mistake', ...frames].join('\n');
  expect(isOwnFault({ stack }, LIB)).toBe(expected);
  // A program that has bundled us: nothing can be told apart.
  expect(isOwnFault({ stack }, undefined)).toBe(false);
});

it.each([undefined, null, 'text', 7, {}, { stack: undefined }])('%j is not ours', (thrown) => {
  expect(isOwnFault(thrown, LIB)).toBe(false);
});
