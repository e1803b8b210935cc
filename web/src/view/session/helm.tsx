// The helm: every control that a session takes, and what it will do.

import { useState } from 'preact/hooks';
import type { Control, Timeline } from '../../client';
import { duration, money, short, words } from '../../format';
import { preferences } from '../../preferences';
import type { OpenSession } from '../../session';
import { Meter } from '../marks';
import { Aggressiveness } from './aggressiveness';

/** Longest note. Bytes, as the gateway counts. */
const MAX_NOTE = 4_096;

/** What was done last and how it went. */
interface Said {
  text: string;
  isError: boolean;
}

interface HelmProps {
  session: OpenSession;
  timeline: Timeline;
  state: string;
}

export function Helm({ session, timeline, state }: HelmProps) {
  const [said, setSaid] = useState<Said | null>(null);
  const { controls, no_controls } = timeline.whole;
  const steer = async (control: Control, done: string): Promise<boolean> => {
    try {
      await session.steer(control);
      setSaid({ text: done, isError: false });
      return true;
    } catch (error) {
      setSaid({ text: error instanceof Error ? error.message : String(error), isError: true });
      return false;
    }
  };
  const takes = (name: string): boolean => controls.includes(name);
  return (
    <section class="panel helm" aria-labelledby="helm-title">
      <h2 id="helm-title">Helm</h2>
      {no_controls !== null && <p class="soft">{no_controls}</p>}
      <p class={`said ${said?.isError === true ? 'error' : ''}`} role="status">
        {said?.text ?? ''}
      </p>
      {controls.length > 0 && (
        <>
          <Switches timeline={timeline} state={state} takes={takes} steer={steer} />
          {takes('aggressiveness') && <Aggressiveness timeline={timeline} steer={steer} />}
          {takes('note') && <NoteForm steer={steer} />}
          <Actions takes={takes} steer={steer} />
        </>
      )}
      {timeline.whole.budgets.length > 0 && (
        <Budgets timeline={timeline} isOpen={takes('limits')} steer={steer} />
      )}
      {controls.length > 0 && (
        <p class="soft">
          Signed as {preferences.value.who || 'a person'}; every control stands in the journal.
        </p>
      )}
    </section>
  );
}

export type Steer = (control: Control, done: string) => Promise<boolean>;

interface Parts {
  takes(name: string): boolean;
  steer: Steer;
}

function Switches({
  timeline,
  state,
  takes,
  steer,
}: Parts & { timeline: Timeline; state: string }) {
  const { standing } = timeline.whole;
  const isPaused = standing?.paused != null || state === 'paused';
  const isOn = standing?.is_left_alone !== true;
  return (
    <div class="buttons">
      {isPaused ? (
        <button
          type="button"
          class="button main"
          onClick={() => void steer({ control: 'resume' }, 'Resumed.')}
        >
          Resume
        </button>
      ) : (
        takes('pause') && (
          <button
            type="button"
            class="button"
            onClick={() => void steer({ control: 'pause' }, 'Paused: its next request waits.')}
          >
            Pause
          </button>
        )
      )}
      {takes('continuation') && (
        <label class="toggle">
          <input
            type="checkbox"
            role="switch"
            checked={isOn}
            onChange={(event) => {
              const on = event.currentTarget.checked;
              const done = on ? 'What is decided is done.' : 'It is only watched now.';
              void steer({ control: 'continuation', on }, done);
            }}
          />
          Act on decisions
        </label>
      )}
    </div>
  );
}

function NoteForm({ steer }: { steer: Steer }) {
  const [text, setText] = useState('');
  const bytes = new TextEncoder().encode(text).length;
  return (
    <form
      class="note-form"
      onSubmit={(event) => {
        event.preventDefault();
        const done = 'The agent reads it with its next request.';
        void steer({ control: 'note', text: text.trim() }, done).then((ok) => {
          if (ok) setText('');
        });
      }}
    >
      <label class="stack">
        Note to the agent
        <textarea rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="button" disabled={text.trim() === '' || bytes > MAX_NOTE}>
        Send note
      </button>
      {bytes > MAX_NOTE && <span class="error">too long: {short(bytes)} of 4,096 bytes</span>}
    </form>
  );
}

interface Action {
  name: 're_evaluate' | 'force_synthesis' | 'start_over' | 'stop';
  label: string;
  about: string;
  /** What is asked before it is done; null: it is done at once. */
  ask: string | null;
}

const ACTIONS: readonly Action[] = [
  {
    name: 're_evaluate',
    label: 'Re-evaluate',
    about: 'The agent is told to reconsider its course.',
    ask: null,
  },
  {
    name: 'force_synthesis',
    label: 'Force answer',
    about: 'Tools are withdrawn and the final answer is asked for.',
    ask: 'Ask for the final answer now?',
  },
  {
    name: 'start_over',
    label: 'Start over',
    about: 'The workspace is restored and a new attempt begins.',
    ask: 'Give this attempt up and begin a new one?',
  },
  { name: 'stop', label: 'Stop', about: 'The session ends.', ask: 'End this session?' },
];

function Actions({ takes, steer }: Parts) {
  const [asked, setAsked] = useState<Action | null>(null);
  const act = (action: Action): void => {
    setAsked(null);
    void steer({ control: action.name }, `${action.label}: takes effect with the next request.`);
  };
  return (
    <div class="actions">
      <div class="buttons">
        {ACTIONS.filter((action) => takes(action.name)).map((action) => (
          <button
            key={action.name}
            type="button"
            class={`button ${action.name === 'stop' ? 'danger' : ''}`}
            title={action.about}
            aria-expanded={action.ask === null ? undefined : asked === action}
            onClick={() => (action.ask === null ? act(action) : setAsked(action))}
          >
            {action.label}
          </button>
        ))}
      </div>
      {asked !== null && (
        <div class="confirm" role="group" aria-label={asked.ask ?? ''}>
          <span>
            {asked.ask} {asked.about}
          </span>
          <button type="button" class="button main" autofocus onClick={() => act(asked)}>
            Yes, {asked.label.toLowerCase()}
          </button>
          <button type="button" class="button" onClick={() => setAsked(null)}>
            Cancel
          </button>
        </div>
      )}
    </div>
  );
}

type Budget = Timeline['whole']['budgets'][number];

function amount(name: string, value: number): string {
  if (name.endsWith('_ms')) return duration(value);
  return name.includes('nanodollars') ? money(value) : short(value);
}

/** What people type: dollars and minutes, where the API has nano-dollars and milliseconds. */
function unitOf(name: string): { unit: string; by: number } {
  if (name.endsWith('_ms')) return { unit: 'minutes', by: 60_000 };
  return name.includes('nanodollars') ? { unit: 'US dollars', by: 1e9 } : { unit: '', by: 1 };
}

function Budgets({
  timeline,
  isOpen,
  steer,
}: {
  timeline: Timeline;
  isOpen: boolean;
  steer: Steer;
}) {
  return (
    <div class="budgets">
      <h3>Limits</h3>
      <ul>
        {timeline.whole.budgets.map((budget) => (
          <BudgetLine key={budget.name} budget={budget} isOpen={isOpen} steer={steer} />
        ))}
      </ul>
    </div>
  );
}

function BudgetLine({ budget, isOpen, steer }: { budget: Budget; isOpen: boolean; steer: Steer }) {
  const { name, used, allowed } = budget;
  const [text, setText] = useState('');
  const { unit, by } = unitOf(name);
  const title = words(name.replace('max_', '').replace('_nanodollars', '').replace('_ms', ' time'));
  const share = allowed === null || allowed === 0 ? 0 : used / allowed;
  const told = `${amount(name, used)}${allowed === null ? ', no limit' : ` of ${amount(name, allowed)}`}`;
  const submit = (event: Event): void => {
    event.preventDefault();
    const typed = Number(text) * by;
    // What is small is a small limit; only 0 is none.
    const value = typed > 0 ? Math.max(1, Math.round(typed)) : 0;
    const done = value === 0 ? `No limit of ${title} any more.` : `Limit of ${title} changed.`;
    void steer({ control: 'limits', [name]: value }, done).then((ok) => ok && setText(''));
  };
  return (
    <li>
      <span class="name">{title}</span>
      <span class="told">{told}</span>
      {allowed !== null && (
        <Meter
          share={share}
          label={`${title}: ${told}`}
          tone={share >= 1 ? 'bad' : share > 0.8 ? 'warn' : 'calm'}
        />
      )}
      {isOpen && (
        <form onSubmit={submit}>
          <input
            type="number"
            min="0"
            max={Math.floor((name === 'max_turns' || name === 'max_tool_calls' ? 4e9 : 9e15) / by)}
            step={by === 1 ? '1' : 'any'}
            aria-label={`New limit of ${title}${unit === '' ? '' : `, in ${unit}`}; 0 lifts it`}
            placeholder={unit === '' ? 'new limit' : unit}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" class="button small" disabled={text === ''}>
            Set
          </button>
        </form>
      )}
    </li>
  );
}
