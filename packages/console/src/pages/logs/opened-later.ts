/* One script: what the log page needs only when somebody opens it. */

// What every page needs is then one script, instead of one for every set of pages that share a part of it.
import '../../start.tsx';

export { Details } from './details.tsx';
export { GoToTime } from './go-to-time.tsx';
export { PlainPage } from './plain-page.tsx';
export { SavedViewsDialog } from './saved-views-dialog.tsx';
export { SourceChooser } from './source-chooser.tsx';
