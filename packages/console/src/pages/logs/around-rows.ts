/* One script: what is around the rows, and is loaded when they are shown. */

/** Logs may be followed when the node that serves the scripts no longer responds. */
export * from '@porthole/client/event-stream';
export { OverviewGutter } from '../../log-view/chart/overview-gutter.tsx';
export { ColumnHeads } from '../../log-view/rows/column-heads.tsx';
export { ChartPanel, SplitMenu } from './chart-panel.tsx';
export { EmptyActions } from './empty-actions.tsx';
export { Facets } from './facets.tsx';
export { ValueMenu } from './field-actions.tsx';
export { FindTools } from './find-tools.tsx';
