import type { Zone } from '@porthole/logs';

const LOCAL_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/;

/** Local time of a zone, as in log files: `YYYY-MM-DD hh:mm:ss.mmm`. */
export interface LocalTime {
  format(timeMs: number): string;
  /** Epoch milliseconds of a formatted time; the earlier one if a clock change repeats it. */
  parse(text: string): number | undefined;
}

export function createLocalTime(zone: Zone): LocalTime {
  return {
    format: createSecondCache((timeMs) => toText(timeMs + zone.offsetMsAt(timeMs))),
    parse: (text) => {
      if (!LOCAL_TIME.test(text)) return undefined;
      const localMs = Date.parse(`${text.replace(' ', 'T')}Z`);
      return Number.isNaN(localMs) ? undefined : zone.toEpochMs(localMs);
    },
  };
}

/** Caches the current second: within it only the milliseconds differ. */
function createSecondCache(format: (timeMs: number) => string): (timeMs: number) => string {
  let cachedSecond = Number.NaN;
  let cachedText = '';
  return (timeMs) => {
    const second = Math.floor(timeMs / 1000);
    if (second !== cachedSecond) {
      cachedText = format(second * 1000).slice(0, -'000'.length);
      cachedSecond = second;
    }
    return cachedText + String(Math.floor(timeMs - second * 1000)).padStart(3, '0');
  };
}

function toText(localMs: number): string {
  const iso = new Date(localMs).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}
