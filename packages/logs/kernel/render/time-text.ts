/* Decides whether a text is surely a time. Part of ../scan.ts. */
import { isDigit } from '../scan/json-bytes';

/** Whether `[start, end)` is ISO text, or a number of seconds or less; others may be times as well. */
export function isTimeText(start: u32, end: u32): bool {
  let at = start;
  while (at < end && isDigit(load<u8>(at))) at++;
  const digits = at - start;
  if (digits === 4) return end - start >= 19 && isDate(start) && isClock(start + 11);
  if (digits < 9 || digits > 19) return false;
  if (at === end) return true;
  if (load<u8>(at) !== 46 || at + 1 === end) return false;
  for (at++; at < end; at++) if (!isDigit(load<u8>(at))) return false;
  return true;
}

/** `YYYY-MM-DD` and what separates it from the time of day. */
function isDate(at: u32): bool {
  if (load<u8>(at + 4) !== 45 || load<u8>(at + 7) !== 45) return false;
  const separator = load<u8>(at + 10);
  if (separator !== 84 && separator !== 32) return false;
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (month < 1 || month > 12 || day < 1) return false;
  // In February it depends on the year.
  return day <= (month === 2 ? 28 : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
}

/** `hh:mm:ss`. */
function isClock(at: u32): bool {
  if (load<u8>(at + 2) !== 58 || load<u8>(at + 5) !== 58) return false;
  return twoDigits(at) <= 23 && twoDigits(at + 3) <= 59 && twoDigits(at + 6) <= 59;
}

/** Two digits; more than 99 if one of them is not. */
function twoDigits(at: u32): u32 {
  const tens = <u32>load<u8>(at) - 48;
  const ones = <u32>load<u8>(at + 1) - 48;
  return tens <= 9 && ones <= 9 ? tens * 10 + ones : 1000;
}
