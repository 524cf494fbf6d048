/** Dates and times in the order of ISO 8601, as most programs write them. */
export const ISO = "yyyy-MM-dd['T'][ ]HH:mm:ss[.S][,S][X][ X]";

/** As the C library writes a time. */
export const CTIME = 'EEE MMM d HH:mm:ss[.S] yyyy';
