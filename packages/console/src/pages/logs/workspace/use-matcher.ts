import { useEffect, useState } from 'preact/hooks';
import { createMatcher } from '../../../log-view/find/create-matcher.ts';
import type { TextMatcher } from '../../../log-view/find/text-pieces.ts';
import type { FindQuery } from '../../../log-view/model/workspace-state.ts';

/** Marks what is looked for; nothing while it is made ready, or when it cannot be looked for. */
export function useMatcher(query: FindQuery | null): TextMatcher | null {
  const [matcher, setMatcher] = useState<TextMatcher | null>(null);
  const key = JSON.stringify(query);
  useEffect(() => {
    let isOver = false;
    const take = (made: TextMatcher | null) => isOver || setMatcher(() => made);
    if (query) createMatcher(query).then(take, () => take(null));
    else take(null);
    return () => {
      isOver = true;
    };
  }, [key]);
  return matcher;
}
