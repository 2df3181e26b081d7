import { locale } from "./index";

// Formatters are costly to make; there are few languages.
const cache = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();

function dates(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale()} ${name}`;
  let formatter = cache.get(key);
  if (!formatter) cache.set(key, (formatter = new Intl.DateTimeFormat(locale(), options)));
  return formatter as Intl.DateTimeFormat;
}

function number(digits: number): Intl.NumberFormat {
  const key = `${locale()} ${digits}`;
  let formatter = cache.get(key);
  if (!formatter)
    cache.set(key, (formatter = new Intl.NumberFormat(locale(), { maximumFractionDigits: digits })));
  return formatter as Intl.NumberFormat;
}

const DAY_MS = 86_400_000;

/** 11:20 */
export function clock(at: string | number | Date): string {
  return dates("clock", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(at));
}

/** 11:20:04 */
export function clockSeconds(at: string | number | Date): string {
  return dates("seconds", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(
    new Date(at),
  );
}

/** Friday 27 November */
export function longDay(at: string | number | Date): string {
  const date = new Date(at);
  const year = date.getFullYear() === new Date().getFullYear() ? {} : ({ year: "numeric" } as const);
  if (locale() === "zh-CN")
    return dates("long" + String("year" in year), {
      month: "long",
      day: "numeric",
      weekday: "long",
      ...year,
    }).format(date);
  const [weekday, day] = [
    dates("weekday", { weekday: "long" }),
    dates("daymonth" + String("year" in year), { day: "numeric", month: "long", ...year }),
  ];
  return `${weekday.format(date)} ${day
    .formatToParts(date)
    .filter((part) => part.type !== "literal")
    .sort((a, b) => order(a.type) - order(b.type))
    .map((part) => part.value)
    .join(" ")}`;
}

const order = (type: string) => ["day", "month", "year"].indexOf(type);

/** Today 11:20, this week Thu, older 23 Nov. */
export function shortTime(at: string | number | Date, now = Date.now()): string {
  const date = new Date(at);
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (date.getTime() >= midnight) return clock(date);
  if (date.getTime() >= midnight - 6 * DAY_MS)
    return dates("short weekday", { weekday: "short" }).format(date);
  const parts = dates("short date", { day: "numeric", month: "short" });
  if (locale() === "zh-CN") return parts.format(date);
  const values = Object.fromEntries(parts.formatToParts(date).map((part) => [part.type, part.value]));
  return `${values.day} ${values.month}`;
}

/** A running clock: 0:52, 18:07, 1:02:09. */
export function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

const units = { en: ["s", "min", "h", "d"], "zh-CN": ["秒", "分", "小时", "天"] } as const;

/** A span that has ended: 12 s, 4 min 32 s, 2 h 5 min. */
export function duration(ms: number): string {
  const [s, min, h] = units[locale()];
  if (ms < 1000) return `${number(1).format(Math.max(0, ms) / 1000)} ${s}`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} ${s}`;
  if (seconds < 3600)
    return `${Math.floor(seconds / 60)} ${min}${seconds % 60 ? ` ${seconds % 60} ${s}` : ""}`;
  return `${Math.floor(seconds / 3600)} ${h}${Math.floor(seconds / 60) % 60 ? ` ${Math.floor(seconds / 60) % 60} ${min}` : ""}`;
}

/** How long something waits, in its largest unit: 38 s, 12 min, 3 h, 2 d. */
export function age(ms: number): string {
  const [s, min, h, d] = units[locale()];
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} ${s}`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} ${min}`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} ${h}`;
  return `${Math.floor(seconds / 86_400)} ${d}`;
}

/** 84 KB, 1.2 MB; decimal units, as file managers count. */
export function bytes(size: number): string {
  const names = ["B", "KB", "MB", "GB", "TB"];
  let value = size;
  let at = 0;
  while (value >= 1000 && at < names.length - 1) {
    value /= 1000;
    at++;
  }
  return `${number(value < 10 && at > 0 ? 1 : 0).format(value)} ${names[at]}`;
}

/** 62k, 1.2M: token counts. */
export function compact(value: number): string {
  if (value < 1000) return String(value);
  if (value < 1_000_000) return `${number(value < 10_000 ? 1 : 0).format(value / 1000)}k`;
  return `${number(1).format(value / 1_000_000)}M`;
}

/** 31 % */
export function percent(ratio: number): string {
  return `${number(0).format(ratio * 100)} %`;
}

/** $1.07, as an agent states costs. */
export function dollars(value: number): string {
  return `$${value.toFixed(value > 0 && value < 0.01 ? 4 : 2)}`;
}

export function count(value: number): string {
  return number(0).format(value);
}
