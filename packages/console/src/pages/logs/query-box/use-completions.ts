import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from '../../../log-view/model/workspace-state.ts';
import { type Completion, fieldBeingTyped, findCompletions, type RemoteFields } from './completions.ts';
import type { FieldCatalog } from './field-catalog.ts';
import { loadedFields } from './loaded-fields.ts';

/** Pause in typing after which the nodes are asked. */
const REQUEST_MS = 300;

const NOTHING: RemoteFields = { fields: [], values: [] };

/** What could be typed at the caret: from the loaded records at once, from the nodes when they respond. */
export function useCompletions(
  { text, caret, isOpen, isChosen }: { text: string; caret: number; isOpen: boolean; isChosen: boolean },
  { rows, catalog }: { rows: readonly Row[]; catalog: FieldCatalog },
): Completion[] {
  const field = isOpen ? fieldBeingTyped(text, caret) : undefined;
  const remote = useRemoteFields(catalog, { isOpen, field });
  // A query without matches must not take away what its correction needs.
  const known = useRef(rows);
  if (rows.length > 0) known.current = rows;
  const found = useMemo(
    () => (isOpen ? findCompletions(text, caret, { loaded: loadedFields(known.current), remote }) : []),
    // Rows that arrive meanwhile would move the options under the pointer.
    [text, caret, isOpen, remote],
  );
  // What arrives while an option is chosen must not put another one in its place.
  const shown = useRef({ key: '', options: found });
  const key = `${isOpen} ${caret} ${text}`;
  if (!isChosen || shown.current.key !== key || shown.current.options.length === 0)
    shown.current = { key, options: found };
  return shown.current.options;
}

function useRemoteFields(
  catalog: FieldCatalog,
  { isOpen, field }: { isOpen: boolean; field: string | undefined },
): RemoteFields {
  const [remote, setRemote] = useState(NOTHING);
  useEffect(() => {
    setRemote(NOTHING);
    if (!isOpen) return;
    const left = new AbortController();
    const { signal } = left;
    const load = async () => {
      // Failures are not worth a message: the loaded records still complete, and the search itself reports them.
      const [fields, values] = await Promise.allSettled([
        catalog.fields(signal),
        field === undefined ? [] : catalog.values(field, signal),
      ]);
      if (signal.aborted) return;
      setRemote({
        fields: fields.status === 'fulfilled' ? fields.value : [],
        values: values.status === 'fulfilled' ? values.value : [],
      });
    };
    const timer = setTimeout(() => void load(), REQUEST_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [catalog, isOpen, field]);
  return remote;
}
