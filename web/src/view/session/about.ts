// What the parts of a session's view share: whose session it is and how to get to a turn.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OpenSession } from '../../session';

export interface About {
  /** The session that can be steered; null for recordings. */
  session: OpenSession | null;
  /** Shows a turn in the timeline. */
  jump(turn: number): void;
  /** The address of a turn, for links. */
  turnHref(turn: number): string;
}

export const AboutSession = createContext<About>({
  session: null,
  jump: () => undefined,
  turnHref: () => '#/',
});

export function useAbout(): About {
  return useContext(AboutSession);
}

/** How many fields of a note's kind are told with which words. */
export const NOTE_NAMES: Record<string, string> = {
  user: 'User',
  control: 'Control',
  call_failed: 'Model call failed',
  rescued: 'Asked again',
  fell_back: 'Other model',
  broke_off: 'Broke off',
  held: 'Held while paused',
  failed_open: 'Passed unread',
  lost: 'Entries lost',
  compacted: 'Compacted',
  check: 'Check',
  started_over: 'Started over',
  start_over_refused: 'Not started over',
  checkpoint: 'Checkpoint',
  handed_over: 'Handed over',
  mail: 'Mail',
  waiting: 'Waiting',
  taken_up: 'Taken up again',
  steered: 'Steered',
  capped: 'Capped',
  ended: 'Ended',
  marked: 'Marked',
};
