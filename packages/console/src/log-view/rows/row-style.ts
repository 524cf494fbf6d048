import type { ZoneName } from '../../state/view.ts';
import type { TextMatcher } from '../find/text-pieces.ts';

/** What all rows have in common. The same object as long as none of it changes, so that rows need not be drawn again. */
export interface RowStyle {
  zone: ZoneName;
  isWrapped: boolean;
  /** Records of several nodes are shown. */
  withNode: boolean;
  matcher: TextMatcher | null;
  /** Changes with the colours of nodes. */
  colours: string;
}
