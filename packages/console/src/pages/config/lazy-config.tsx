import type { FunctionComponent } from 'preact';
import { Resource } from '../../state/resource.ts';
import { useResource } from '../../ui/hooks.ts';
import { ResourceNote } from '../../ui/notes.tsx';

/* The configuration pages are a script of their own: about a tenth of the console, and most views do not need it. */

const load = () => import('./config-page.tsx');

export const ConfigPage = lazy('configuration page', async () => (await load()).ConfigPage);

export const NodeConfig = lazy('configuration page', async () => (await load()).NodeConfig);

/** A component whose script is loaded when it is first shown. `what` names it while it loads, and if that fails. */
function lazy<Props extends object>(
  what: string,
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const script = new Resource(load);
  return function LazyComponent(props: Props) {
    const { value: Shown } = useResource(script);
    return Shown ? <Shown {...props} /> : <ResourceNote resource={script} what={`The ${what}`} />;
  };
}
