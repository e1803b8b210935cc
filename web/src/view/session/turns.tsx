// The turns of a session, the latest first, those that are asked for in view.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Timeline } from '../../client';
import { plural } from '../../format';
import { Empty } from '../marks';
import { Notes, TurnCard } from './turn';

/** Turns that are there at first, and how many more each time. */
const SHOWN = 60;

interface TurnsProps {
  timeline: Timeline;
  /** The turn to show; null: none in particular. */
  target: number | null;
  /** Counts up when it is asked for again. */
  jump: number;
}

export function Turns({ timeline, target, jump }: TurnsProps) {
  const list = useRef<HTMLOListElement>(null);
  const [shown, setShown] = useState(SHOWN);
  const turns = [...timeline.turns].reverse();
  const at = target === null ? -1 : turns.findIndex((turn) => turn.number === target);
  const many = Math.max(shown, at + 10);
  useEffect(() => {
    if (target === null) return;
    const card = list.current?.querySelector<HTMLElement>(`#turn-${target}`);
    card?.scrollIntoView({ block: 'start' });
    card?.focus({ preventScroll: true });
  }, [target, jump, at >= 0]);
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
    const { target: at } = event;
    const isTyping =
      at instanceof HTMLInputElement ||
      at instanceof HTMLTextAreaElement ||
      at instanceof HTMLSelectElement;
    if (by === 0 || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const cards = [...(list.current?.querySelectorAll<HTMLElement>('.turn') ?? [])];
    const now = cards.findIndex((card) => card.contains(document.activeElement));
    const next = cards[now < 0 ? 0 : Math.min(cards.length - 1, Math.max(0, now + by))];
    event.preventDefault();
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  if (turns.length === 0 && timeline.before.length === 0) {
    return (
      <Empty title="No turns yet">
        <p>The first one appears when the model has answered.</p>
      </Empty>
    );
  }
  return (
    <>
      <ol class="turns" ref={list} aria-label="Turns, the latest first" reversed>
        {turns.slice(0, many).map((turn, index) => {
          const before = turns[index + 1];
          return (
            <TurnCard
              key={turn.number}
              turn={turn}
              isTarget={turn.number === target}
              isNewAttempt={turn.attempt > (before?.attempt ?? turn.attempt)}
            />
          );
        })}
      </ol>
      {many < turns.length && (
        <button type="button" class="button more" onClick={() => setShown(many + SHOWN)}>
          Show earlier turns ({turns.length - many} more)
        </button>
      )}
      {timeline.before.length > 0 && many >= turns.length && (
        <section class="before">
          <h2>Before the first turn: {plural(timeline.before.length, 'thing')}</h2>
          <Notes notes={timeline.before} />
        </section>
      )}
    </>
  );
}
