// Recorded runs: a file is dropped, the gateway judges it, the view is that of a session.

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { ApiError, api, type Replayed } from '../client';
import { plural, words } from '../format';
import { ActionBadge, Badge, Failed, Loading } from './marks';
import { RecordedView } from './session';

/** Largest file. Bytes, as the gateway takes them. */
const MAX_FILE = 64 << 20;
const POLICIES = ['', 'default', 'classic', 'aggressive', 'standard', 'lenient'] as const;

interface Shown {
  file: File;
  policy: string;
  replayed: Replayed;
}

/** Kept while the page is open, so that looking at the fleet does not lose it. */
const shown = signal<Shown | null>(null);
const busy = signal('');
/** The policy that is chosen; empty: the gateway's own. */
const chosen = signal('');
const error = signal('');

/** Takes a file, chosen or dropped anywhere on the page. */
export function replay(file: File): void {
  void read(file, '', chosen.value);
}

async function read(file: File, run: string, policy: string): Promise<void> {
  error.value = '';
  if (file.size > MAX_FILE) {
    error.value = `${file.name} is larger than 64 MiB`;
    return;
  }
  busy.value = file.name;
  // The one before is not what was asked for, whatever comes of this one.
  if (shown.value?.file !== file) shown.value = null;
  try {
    const replayed = await api.replay(file, { name: file.name, run, policy });
    shown.value = { file, policy, replayed };
  } catch (problem) {
    const why = problem instanceof Error ? problem.message : String(problem);
    const isOld = problem instanceof ApiError && problem.status === 404;
    error.value = isOld ? 'this gateway cannot replay' : why;
  } finally {
    busy.value = '';
  }
}

export function Replay() {
  const [isOver, setOver] = useState(false);
  const policy = chosen.value;
  const now = shown.value;
  return (
    <section
      class={`replay ${isOver ? 'over' : ''}`}
      aria-label="Replay"
      onDragOver={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={() => setOver(false)}
    >
      <div class={now === null ? 'drop' : 'drop small'}>
        {now === null && <h1>Replay a recorded run</h1>}
        <p>
          {now === null
            ? 'Drop a trace here: Claude Code, Codex, Gemini CLI, opencode, OpenHands and others, also compressed. It is judged by this gateway and goes nowhere else.'
            : `${now.file.name} · ${now.replayed.format}`}
        </p>
        <label class="button main">
          {now === null ? 'Choose a file' : 'Another file'}
          <input
            class="hidden"
            type="file"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file !== undefined) replay(file);
            }}
          />
        </label>
        <label class="pick">
          Policy
          <select
            value={policy}
            onChange={(event) => {
              chosen.value = event.currentTarget.value;
              const run = now?.replayed.timeline?.session ?? '';
              if (now !== null) void read(now.file, run, event.currentTarget.value);
            }}
          >
            {POLICIES.map((name) => (
              <option key={name} value={name}>
                {name === '' ? "the gateway's own" : name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {error.value !== '' && <Failed what="The file cannot be replayed" why={error.value} />}
      {busy.value !== '' && <Loading what={busy.value} />}
      {now !== null && busy.value === '' && <Runs now={now} />}
    </section>
  );
}

function Runs({ now }: { now: Shown }) {
  const { runs, timeline, more_runs, problems } = now.replayed;
  return (
    <>
      {runs.length > 1 && (
        <nav class="runs" aria-label="Runs of the file">
          {runs.map((run) => (
            <button
              key={run.id}
              type="button"
              class="button"
              aria-pressed={timeline?.session === run.id}
              onClick={() => void read(now.file, run.id, now.policy)}
            >
              {run.id} <small>{plural(run.turns, 'turn')}</small>{' '}
              {run.outcome !== null && (
                <Badge tone={run.outcome === 'solved' ? 'good' : 'bad'}>{words(run.outcome)}</Badge>
              )}
              {run.first_action !== null && (
                <ActionBadge action={run.first_action} shadow={false} />
              )}
            </button>
          ))}
          {more_runs > 0 && <span class="soft">and {more_runs} more</span>}
        </nav>
      )}
      {problems.length > 0 && (
        <details class="problems">
          <summary>{plural(problems.length, 'thing')} could not be read</summary>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </details>
      )}
      {timeline === null ? (
        <Failed what="No run found" why="Nothing in this file is a run that can be read." />
      ) : (
        <RecordedView key={timeline.session} timeline={timeline} />
      )}
    </>
  );
}
