/* One script: what the log page needs only when somebody opens it. */

export { Details } from './details.tsx';
export { GoToTime } from './go-to-time.tsx';
export { PlainPage } from './plain-page.tsx';
export { SavedViewsDialog, ViewItems } from './saved-views-dialog.tsx';
export { runViewAction } from './view-actions.ts';
