const MS_PER_DAY = 86_400_000;

/** RFC 3339 with whole seconds, UTC, as metav1.Time is written. `ms` is wall time since the epoch. */
export function rfc3339(ms: number): string {
  return format(ms, "");
}

/** RFC 3339 with as much fraction as there is (Go's RFC3339Nano: trailing zeros left out), UTC. */
export function rfc3339Nano(ms: number): string {
  const nanos = Math.floor((ms - Math.floor(ms / 1000) * 1000) * 1e6);
  const fraction = String(nanos).padStart(9, "0").replace(/0+$/, "");
  return format(ms, fraction === "" ? "" : `.${fraction}`);
}

/** Milliseconds since the epoch of an RFC 3339 time, or undefined when the text is none. Fractions finer than a millisecond are kept. */
export function parseRfc3339(text: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute] = match;
  const fields = { year: Number(year), month: Number(month), day: Number(day) };
  const inRange =
    fields.month >= 1 &&
    fields.month <= 12 &&
    fields.day >= 1 &&
    fields.day <= daysInMonth(fields) &&
    Number(hour) <= 23 &&
    Number(minute) <= 59 &&
    Number(second) <= 59 &&
    Number(offsetHour ?? 0) <= 23 &&
    Number(offsetMinute ?? 0) <= 59;
  if (!inRange) return undefined;
  const offsetMinutes = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === "-" ? -1 : 1);
  const seconds = (Number(hour) * 60 + Number(minute) - offsetMinutes) * 60 + Number(second);
  return daysFromCivil(fields) * MS_PER_DAY + seconds * 1000 + Number(fraction ?? 0) * 1000;
}

function format(ms: number, fraction: string): string {
  const days = Math.floor(ms / MS_PER_DAY);
  const second = Math.floor((ms - days * MS_PER_DAY) / 1000);
  const { year, month, day } = civilFromDays(days);
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  return `${date}T${pad(Math.floor(second / 3600), 2)}:${pad(Math.floor(second / 60) % 60, 2)}:${pad(second % 60, 2)}${fraction}Z`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, "0");
}

interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/**
 * Days since the epoch to a date of the Gregorian calendar, and back: years begin in March, so that the leap day comes last and the lengths
 * of months follow a straight line. An era is 400 years of 146097 days.
 */
function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function daysFromCivil({ year, month, day }: CivilDate): number {
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function daysInMonth({ year, month }: { readonly year: number; readonly month: number }): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
