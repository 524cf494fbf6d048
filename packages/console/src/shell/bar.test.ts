import { expect, test } from 'vitest';
import { ALL_CONFIG, ALL_LOGS, ALL_NODES, INCIDENTS, OVERVIEW, type View } from '../state/view.ts';
import { pageTitle } from './bar.tsx';

test.each<[View, string]>([
  [OVERVIEW, 'prod · Porthole'],
  [INCIDENTS, 'Incidents · prod · Porthole'],
  [ALL_NODES, 'Nodes · prod · Porthole'],
  [{ page: 'node', id: 'a', tab: 'overview', text: '', range: null, shape: null }, 'a · prod · Porthole'],
  [{ page: 'node', id: 'a', tab: 'logs', text: '', range: null, shape: null }, 'Logs of a · prod · Porthole'],
  [ALL_CONFIG, 'Configuration · prod · Porthole'],
  [{ ...ALL_CONFIG, tab: 'compare', left: 'a', right: 'b' }, 'a and b · prod · Porthole'],
  [{ ...ALL_LOGS, text: 'slow', sources: [{ node: 'a', log: null }] }, 'slow · Logs of a · prod · Porthole'],
  [{ page: 'unknown', path: '/x' }, 'Not found · prod · Porthole'],
])('the title of %o is %s', (view, title) => {
  expect(pageTitle(view, 'prod')).toBe(title);
});

test('omits the name of the cluster until it is known', () => {
  expect(pageTitle(OVERVIEW, undefined)).toBe('Porthole');
});
