// One turn: what the model said and called, what came of it, what was decided.

import { memo } from './memo';
import { callTone, type CallTone } from '../../state/timeline';
import { clock, money, moment, plural, short, span } from '../../format';
import type { Note, Turn } from '../../client';
import { NOTE_NAMES } from './about';
import { DecisionCard } from './decision';

type Call = Turn['calls'][number];

/** Longest text of a turn that is shown without being asked for. Characters. */
const SHOWN = 420;

const OUTCOMES: Record<CallTone, string> = {
  new: 'ok',
  again: 'nothing new',
  error: 'error',
  empty: 'empty',
  open: 'no result',
};

interface TurnProps {
  turn: Turn;
  isTarget: boolean;
  isNewAttempt: boolean;
}

export const TurnCard = memo(function TurnCard({ turn, isTarget, isNewAttempt }: TurnProps) {
  return (
    <li
      class={`turn ${isTarget ? 'target' : ''}`}
      id={`turn-${turn.number}`}
      data-turn={turn.number}
      tabIndex={-1}
    >
      {isNewAttempt && <p class="attempt-mark">Attempt {turn.attempt}</p>}
      <TurnHead turn={turn} />
      {turn.text !== '' && <Words text={turn.text} />}
      {turn.calls.length > 0 && (
        <ul class="calls">
          {turn.calls.map((call, at) => (
            <CallLine key={at} call={call} />
          ))}
          {turn.more_calls > 0 && <li class="soft">and {plural(turn.more_calls, 'more call')}</li>}
        </ul>
      )}
      <Results turn={turn} />
      {turn.decisions.map((decided, at) => (
        <DecisionCard key={decided.seq ?? at} decided={decided} />
      ))}
      <SaidHere turn={turn} />
      {turn.notes.length > 0 && <Notes notes={turn.notes} />}
    </li>
  );
});

function TurnHead({ turn }: { turn: Turn }) {
  const { spent, claimed } = turn;
  const steps = claimed?.step != null ? `step ${claimed.step}/${claimed.steps ?? '?'}` : '';
  const share = claimed?.percent != null ? `${Math.round(claimed.percent)} %` : '';
  return (
    <header class="turn-head">
      <h2>Turn {turn.number}</h2>
      {turn.at_ms !== null && <time title={moment(turn.at_ms)}>{clock(turn.at_ms)}</time>}
      {turn.took_ms !== null && <span title="from request to reply">{span(turn.took_ms)}</span>}
      {spent !== null && (
        <span title={`${spent.input_tokens} in, ${spent.output_tokens} out`}>
          {short(spent.input_tokens + spent.output_tokens)} tokens
          {spent.cost_nanodollars !== null && ` · ${money(spent.cost_nanodollars)}`}
        </span>
      )}
      {turn.stop !== null && turn.stop !== 'stop' && <span>stopped: {turn.stop}</span>}
      {claimed !== null && (
        <span class="claim" title="what the agent says of its progress">
          says {[share, steps].filter((part) => part !== '').join(', ') || 'nothing'}
        </span>
      )}
      {turn.score !== null && (
        <span class="score" title="score after this turn">
          score {turn.score.toFixed(2)}
        </span>
      )}
    </header>
  );
}

/** Long texts open on demand. It is text, whatever stands in it. */
export function Words({ text }: { text: string }) {
  if (text.length <= SHOWN) return <p class="words">{text}</p>;
  return (
    <details class="words">
      <summary>{text.slice(0, SHOWN)}…</summary>
      {text.slice(SHOWN)}
    </details>
  );
}

function CallLine({ call }: { call: Call }) {
  const tone = callTone(call);
  return (
    <li class={`call ${tone}`}>
      <details>
        <summary>
          <span class="kind">{call.kind}</span>
          <code>{call.label || call.name}</code>
          <span class="outcome">
            {OUTCOMES[tone]}
            {call.exit_code !== null && call.exit_code !== 0 && ` (exit ${call.exit_code})`}
          </span>
          {call.novel && <span class="tag">new</span>}
          {call.times > 1 && <span class="tag times">same ×{call.times}</span>}
          {call.changes && <span class="tag">changes</span>}
          {call.took_ms !== null && <span class="soft">{span(call.took_ms)}</span>}
        </summary>
        <dl>
          <dt>arguments</dt>
          <dd>
            <pre>{call.arguments || '(none told)'}</pre>
          </dd>
          <dt>returned</dt>
          <dd>
            <pre>{call.excerpt || '(nothing told)'}</pre>
          </dd>
          {call.error !== null && (
            <>
              <dt>error signature</dt>
              <dd>
                <code>{call.error}</code>
              </dd>
            </>
          )}
        </dl>
      </details>
    </li>
  );
}

function Results({ turn }: { turn: Turn }) {
  const { tests, checks } = turn;
  if (tests === null && checks.length === 0) return null;
  return (
    <ul class="results">
      {tests !== null && (
        <li class={tests.failed > 0 || tests.broken ? 'failing' : 'passing'}>
          Tests: {tests.passed} passed, {tests.failed} failed
          {tests.skipped > 0 && `, ${tests.skipped} skipped`}
          {tests.broken && ', and something could not be built'}
          {tests.failing.length > 0 && (
            <details>
              <summary>{plural(tests.failing.length, 'failing test')}</summary>
              <ul>
                {tests.failing.map((test) => (
                  <li key={test.id}>
                    <code>{test.name ?? test.id}</code>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </li>
      )}
      {checks.map((check, at) => (
        <li key={check.seq ?? at} class={check.passed ? 'passing' : 'failing'}>
          Check ({check.cause}): {check.passed ? 'passed' : 'failed'}
          {check.excerpt !== '' && (
            <details>
              <summary>output</summary>
              <pre>{check.excerpt}</pre>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Words that no decision of this turn shows already. */
function SaidHere({ turn }: { turn: Turn }) {
  const shown = new Set(turn.decisions.map((decided) => decided.put?.text));
  const said = turn.said.filter((it) => !shown.has(it.text));
  return (
    <>
      {said.map((it, at) => (
        <blockquote key={it.seq ?? at} class={it.template === 'note' ? 'human' : ''}>
          <span class="who">{it.template === 'note' ? 'A person said' : 'Steersman said'}</span>
          <pre>{it.text}</pre>
        </blockquote>
      ))}
    </>
  );
}

export function Notes({ notes }: { notes: readonly Note[] }) {
  return (
    <ul class="notes">
      {notes.map((note, at) => (
        <li key={note.seq ?? at} class={`note ${note.kind}`}>
          <strong>{NOTE_NAMES[note.kind] ?? note.kind.replaceAll('_', ' ')}</strong>
          {note.who !== null && <span> by {note.who}</span>}
          {note.text !== '' && <span class="text">{note.text}</span>}
          {note.at_ms !== null && <time>{clock(note.at_ms)}</time>}
        </li>
      ))}
    </ul>
  );
}
