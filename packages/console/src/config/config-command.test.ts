import { expect, it } from 'vitest';
import { configDiffCommand, configGetCommand, configPairCommand } from './config-command.ts';

const asked = { origin: 'http://127.0.0.1:7300' };

it('one node is named with a colon, which makes it a node of the cluster', () => {
  expect(configGetCommand('broker-2', asked)).toBe('porthole config get broker-2: --url http://127.0.0.1:7300');
});

it('two nodes are compared as texts, as the page does', () => {
  expect(configPairCommand('a', '10.8.0.21:2891', asked)).toBe(
    'porthole config diff a: 10.8.0.21:2891: -o unified --url http://127.0.0.1:7300',
  );
});

it('the cluster is compared with what the page was asked to show', () => {
  expect(configDiffCommand({ role: null, showExpected: false }, asked)).toBe(
    'porthole config diff --url http://127.0.0.1:7300',
  );
  expect(configDiffCommand({ role: 'storage', showExpected: true }, asked)).toBe(
    'porthole config diff --role storage --expected --url http://127.0.0.1:7300',
  );
});

it('what a shell would take apart is quoted', () => {
  expect(configDiffCommand({ role: "it's; rm *", showExpected: false }, asked)).toContain("--role 'it'\\''s; rm *' ");
});
