import { Resource } from './resource.ts';
import { session } from './session.ts';

/** Keys of the configuration of the node this page came from; asked for once, when they are first needed. */
export const configKeys = new Resource<string[]>(async (signal) =>
  (await session.client.settings({ signal })).settings.map(({ key }) => key),
);
