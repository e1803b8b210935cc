// How numbers, times and names are written.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 950, 1.2k, 34k, 5.6M. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size < 1_000) return String(Math.round(value));
  const [by, unit] =
    size < 999_500 ? [1e3, 'k'] : size < 999_500_000 ? [1e6, 'M'] : ([1e9, 'G'] as const);
  const scaled = value / by;
  return `${Math.abs(scaled) < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** Nano-dollars as dollars, with as many digits as the sum needs. */
export function money(nano: number): string {
  const dollars = nano / 1e9;
  if (dollars === 0) return '$0';
  if (dollars < 0.01) return `$${dollars.toFixed(4)}`;
  return dollars < 1_000 ? `$${dollars.toFixed(2)}` : `$${short(dollars)}`;
}

/** How long something took or is ago: 4s, 12m, 3h, 2d. */
export function span(ms: number): string {
  if (ms < SECOND) return ms < 0 ? '0s' : `${(ms / SECOND).toFixed(1)}s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`;
  return `${Math.floor(ms / DAY)}d`;
}

/** A length of time to the second: 1h 30m, 1m 30s; below ten seconds to the tenth. */
export function duration(ms: number): string {
  if (ms < 10 * SECOND) return `${(Math.max(0, ms) / SECOND).toFixed(1)}s`;
  const parts: [number, string][] = [
    [Math.floor(ms / DAY), 'd'],
    [Math.floor((ms % DAY) / HOUR), 'h'],
    [Math.floor((ms % HOUR) / MINUTE), 'm'],
    [Math.floor((ms % MINUTE) / SECOND), 's'],
  ];
  const told = parts.filter(([many]) => many > 0).map(([many, unit]) => `${many}${unit}`);
  return told.slice(0, 2).join(' ');
}

export function clock(atMs: number): string {
  return new Date(atMs).toLocaleTimeString('en-GB');
}

export function moment(atMs: number): string {
  const date = new Date(atMs);
  return `${date.toLocaleDateString('en-CA')} ${date.toLocaleTimeString('en-GB')}`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** `nudge_synthesis` as words. */
export function words(name: string): string {
  return name === 're_evaluate' ? 're-evaluate' : name.replaceAll('_', ' ');
}

export function plural(count_: number, one: string, many = `${one}s`): string {
  return `${count(count_)} ${count_ === 1 ? one : many}`;
}

/** What an action comes to, for its colour and shape. */
export type Tone = 'calm' | 'warn' | 'urge' | 'bad' | 'violet' | 'human' | 'good';

const TONES: Record<string, Tone> = {
  continue: 'calm',
  nudge: 'warn',
  nudge_synthesis: 'warn',
  re_evaluate: 'urge',
  retry: 'human',
  force_synthesis: 'bad',
  start_over: 'violet',
  stop: 'bad',
};

export function toneOf(action: string): Tone {
  return TONES[action] ?? 'calm';
}

const STATE_TONES: Record<string, Tone> = {
  open: 'good',
  running: 'good',
  paused: 'human',
  forced: 'urge',
  capped: 'bad',
};

export function toneOfState(state: string): Tone {
  return STATE_TONES[state] ?? 'calm';
}
