import type { NodeState } from '@porthole/contract';
import { configMessage, descriptionMessage, settingsMessage } from '../messages/node-messages.ts';
import type { Calls } from './calls.ts';

export function createNodeCalls(node: NodeState): Pick<Calls, 'Describe' | 'GetConfig' | 'GetSettings'> {
  return {
    Describe: async (_request, options) => descriptionMessage(await node.describe(options)),
    GetConfig: async (_request, options) => configMessage(await node.config(options)),
    GetSettings: async (_request, options) => settingsMessage(await node.settings(options)),
  };
}
