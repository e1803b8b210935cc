// A decision with what explains it, and what a person makes of it.

import { useState } from 'preact/hooks';
import { clock, words } from '../../format';
import type { Decided } from '../../client';
import { ActionBadge } from '../marks';
import { toneOf } from '../../format';
import { useAbout } from './about';

/** Longest note with a mark, in characters; the gateway takes 1 KiB. */
const MAX_NOTE = 500;

export function TurnLink({ turn }: { turn: number }) {
  const { jump, turnHref } = useAbout();
  return (
    <a
      class="turn-link"
      href={turnHref(turn)}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        jump(turn);
      }}
    >
      turn {turn}
    </a>
  );
}

export function DecisionCard({ decided, hasTurn }: { decided: Decided; hasTurn?: boolean }) {
  const { action, evidence, numbers, put } = decided;
  const named = Object.entries(numbers);
  return (
    <article class={`decision ${toneOf(action)}`} aria-label={`Decision: ${words(action)}`}>
      <header>
        <ActionBadge action={action} shadow={decided.shadow} />
        <strong>{decided.why}</strong>
        <span class="when">
          {hasTurn === true && decided.turn > 0 && <TurnLink turn={decided.turn} />}
          {decided.at_ms !== null && <time>{clock(decided.at_ms)}</time>}
        </span>
      </header>
      <dl class="numbers">
        <div>
          <dt>rule</dt>
          <dd>{words(decided.reason)}</dd>
        </div>
        <div>
          <dt>score</dt>
          <dd>{decided.score.toFixed(2)}</dd>
        </div>
        {named.map(([name, value]) => (
          <div key={name}>
            <dt>{words(name)}</dt>
            <dd>{Number.isInteger(value) ? value : value.toFixed(2)}</dd>
          </div>
        ))}
      </dl>
      {(evidence.turns.length > 0 || evidence.excerpt !== '') && (
        <p class="evidence">
          Rests on{' '}
          {evidence.turns.map((turn) => (
            <TurnLink key={turn} turn={turn} />
          ))}
          {evidence.excerpt !== '' && <code>{evidence.excerpt}</code>}
        </p>
      )}
      {put !== null && (
        <blockquote>
          <span class="who">Steersman{decided.shadow ? ' would have said' : ' said'}</span>
          <pre>{put.text}</pre>
        </blockquote>
      )}
      <Marks decided={decided} />
    </article>
  );
}

function Marks({ decided }: { decided: Decided }) {
  const { session } = useAbout();
  const [error, setError] = useState('');
  const [note, setNote] = useState(decided.mark_note ?? '');
  const { seq } = decided;
  if (session === null || seq === null || decided.action === 'continue') return null;
  const send = (mark: Decided['mark'], words_: string): void => {
    setError('');
    session
      .mark(seq, mark, words_.trim() === '' ? null : words_.trim())
      .catch((problem: unknown) => setError(String((problem as Error).message)));
  };
  const toggle = (mark: Decided['mark']): void =>
    send(decided.mark === mark ? 'none' : mark, decided.mark === mark ? '' : note);
  return (
    <div class="marks">
      <span>Was this right?</span>
      <button
        type="button"
        class="button small"
        aria-pressed={decided.mark === 'helpful'}
        onClick={() => toggle('helpful')}
      >
        Helpful
      </button>
      <button
        type="button"
        class="button small"
        aria-pressed={decided.mark === 'harmful'}
        onClick={() => toggle('harmful')}
      >
        Harmful
      </button>
      {decided.mark !== 'none' && (
        <input
          type="text"
          aria-label="Why"
          placeholder="Why? (optional, Enter keeps it)"
          maxLength={MAX_NOTE}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') send(decided.mark, note);
          }}
        />
      )}
      {error !== '' && (
        <span class="error" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}
