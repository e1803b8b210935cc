// What a person likes, kept in this browser. Nothing in it leaves the machine, apart from the name
// that controls are signed with.

import { signal } from '@preact/signals';
import { record, text } from './state/reading';
import { NO_CHOICE, SORT_KEYS, type Choice } from './state/choice';

export type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export interface Preferences {
  theme: Theme;
  /** Who takes the helm; empty: the gateway says "a person". At most 64 bytes. */
  who: string;
  choice: Choice;
  /** Signals that the chart of a session leaves out. */
  hidden: string[];
  /** How far analytics look back, in hours. */
  hours: number;
}

const KEY = 'steersman.preferences';
/** Longest name, in characters; the gateway takes 64 bytes. */
export const MAX_WHO = 60;
/** Spans that analytics offer, in hours. */
export const HOURS: readonly number[] = [1, 24, 168, 720];

/** Reads what was kept; whatever is not as it should be is as if it had not been kept. */
export function readPreferences(value: unknown): Preferences {
  const kept = record(value);
  const choice = record(kept['choice']);
  const hours = HOURS.find((known) => known === kept['hours']) ?? 24;
  const hidden = Array.isArray(kept['hidden']) ? kept['hidden'] : [];
  return {
    theme: THEMES.find((known) => known === kept['theme']) ?? 'system',
    who: text(kept['who']).slice(0, MAX_WHO),
    choice: {
      ...NO_CHOICE,
      state: text(choice['state']),
      agent: text(choice['agent']),
      model: text(choice['model']),
      sort: SORT_KEYS.find((known) => known === choice['sort']) ?? NO_CHOICE.sort,
      reversed: choice['reversed'] === true,
    },
    hidden: hidden.filter((it): it is string => typeof it === 'string').slice(0, 32),
    hours,
  };
}

function load(): Preferences {
  try {
    return readPreferences(JSON.parse(localStorage.getItem(KEY) ?? 'null'));
  } catch {
    return readPreferences(null);
  }
}

export const preferences = signal<Preferences>(load());

export function prefer(change: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...change };
  // What is searched for is not kept: a page that opens empty would look broken.
  const kept = { ...preferences.value, choice: { ...preferences.value.choice, text: '' } };
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Private windows refuse; then it holds until the page is closed.
  }
}

export function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === 'system') root.removeAttribute('data-theme');
  else root.dataset['theme'] = theme;
}
