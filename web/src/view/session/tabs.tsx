// The parts of a session beside its turns: words, decisions, attempts, letters, the journal itself.

import { useState } from 'preact/hooks';
import { clock, count, moment, plural, words } from '../../format';
import type { Timeline, Turn } from '../../client';
import type { EntryEvent } from '../../feed';
import { decisionsOf, speaks } from '../../state/timeline';
import { Empty } from '../marks';
import { useAbout } from './about';
import { DecisionCard, TurnLink } from './decision';
import { Words } from './turn';

export function Conversation({ timeline }: { timeline: Timeline }) {
  const turns = timeline.turns.filter(speaks);
  const asked = timeline.before.filter((note) => note.kind === 'user');
  return (
    <ol class="conversation" aria-label="Conversation">
      {asked.length === 0 && timeline.task !== '' && <Bubble who="User" text={timeline.task} />}
      {asked.map((note, at) => (
        <Bubble key={at} who="User" text={note.text} tone="user" />
      ))}
      {turns.map((turn) => (
        <li key={turn.number} class="exchange">
          <div class="bubble model">
            <span class="who">
              Model <TurnLink turn={turn.number} />
            </span>
            {turn.text === '' ? <p class="soft">(no words)</p> : <Words text={turn.text} />}
            {turn.calls.length > 0 && (
              <p class="called">
                called{' '}
                {turn.calls.map((call, at) => (
                  <code key={at}>{call.label || call.name}</code>
                ))}
              </p>
            )}
          </div>
          {wordsPut(turn).map((said, at) => (
            <div key={at} class={`bubble put ${said.template === 'note' ? 'human' : ''}`}>
              <span class="who">
                {said.template === 'note' ? 'A person, through Steersman' : 'Steersman'}
                <small> {said.template}</small>
                {said.shadow && <small> (not said: shadow)</small>}
              </span>
              <pre>{said.text}</pre>
            </div>
          ))}
          {turn.notes
            .filter((note) => note.kind === 'user')
            .map((note, at) => (
              <div key={at} class="bubble user">
                <span class="who">User</span>
                <Words text={note.text} />
              </div>
            ))}
        </li>
      ))}
      {timeline.ending !== null && timeline.ending.answer !== '' && (
        <Bubble who={`Answer (${words(timeline.ending.ending)})`} text={timeline.ending.answer} />
      )}
    </ol>
  );
}

interface WordsPut {
  text: string;
  template: string;
  /** They were only to be said. */
  shadow: boolean;
}

/** What was said, and what decisions of shadow mode and recordings would have said. */
function wordsPut(turn: Turn): WordsPut[] {
  const said = turn.said.map(({ text, template }) => ({ text, template, shadow: false }));
  const known = new Set(said.map(({ text }) => text));
  const wished = turn.decisions.flatMap(({ put, shadow }) =>
    put === null || known.has(put.text) ? [] : [{ text: put.text, template: put.template, shadow }],
  );
  return [...said, ...wished];
}

function Bubble({ who, text, tone }: { who: string; text: string; tone?: string }) {
  return (
    <li class={`bubble ${tone ?? 'user'}`}>
      <span class="who">{who}</span>
      <Words text={text} />
    </li>
  );
}

export function Decisions({ timeline }: { timeline: Timeline }) {
  const [action, setAction] = useState('');
  const all = decisionsOf(timeline);
  const actions = [...new Set(all.map((decided) => decided.action))].sort();
  const shown = all.filter((decided) => action === '' || decided.action === action).reverse();
  if (all.length === 0) {
    return (
      <Empty title="Nothing was decided but to go on">
        <p>Interventions appear here with their reason, its numbers and what they rest on.</p>
      </Empty>
    );
  }
  return (
    <div class="list">
      <p class="soft">
        {plural(all.length, 'decision')}, the latest first.{' '}
        <label class="pick">
          Show
          <select value={action} onChange={(event) => setAction(event.currentTarget.value)}>
            <option value="">all</option>
            {actions.map((name) => (
              <option key={name} value={name}>
                {words(name)}
              </option>
            ))}
          </select>
        </label>
      </p>
      {shown.map((decided, at) => (
        <DecisionCard key={decided.seq ?? at} decided={decided} hasTurn />
      ))}
    </div>
  );
}

export function Attempts({ timeline }: { timeline: Timeline }) {
  const { attempts, standing } = timeline.whole;
  if (attempts.length === 0) {
    return (
      <Empty title="One attempt so far">
        <p>Attempts that are given up stand here as a ledger, with what they changed.</p>
      </Empty>
    );
  }
  return (
    <div class="list">
      {attempts.map((attempt) => (
        <article key={attempt.number} class="panel attempt">
          <h2>
            Attempt {attempt.number} <small>given up after {plural(attempt.turns, 'turn')}</small>
          </h2>
          <p>{attempt.reason}</p>
          <dl class="pairs">
            {attempt.tried !== '' && <Pair name="Tried" text={attempt.tried} />}
            {attempt.next !== '' && <Pair name="To be tried next" text={attempt.next} />}
            {attempt.failed !== null && (
              <Pair name="Tests" text={`${attempt.passed ?? 0} passed, ${attempt.failed} failed`} />
            )}
            <Pair
              name="Changes"
              text={`${plural(attempt.files.length, 'file')}, +${attempt.insertions} −${attempt.deletions}`}
            />
            {attempt.kept !== '' && <Pair name="Kept as" text={attempt.kept} />}
          </dl>
          {attempt.diff !== null && attempt.diff !== '' && <Diff text={attempt.diff} />}
        </article>
      ))}
      {standing !== null && <p class="soft">Attempt {standing.attempt} is under way.</p>}
    </div>
  );
}

function Pair({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}

/** Lines of a diff that are shown at first. */
const SHOWN_LINES = 400;

function Diff({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.split('\n');
  const shown = isWhole ? lines : lines.slice(0, SHOWN_LINES);
  return (
    <details class="diff">
      <summary>Diff, {plural(lines.length, 'line')}</summary>
      <pre tabIndex={0} aria-label="Diff">
        {shown.map((line, at) => (
          <span key={at} class={diffTone(line)}>
            {`${line}\n`}
          </span>
        ))}
      </pre>
      {shown.length < lines.length && (
        <button type="button" class="button" onClick={() => setWhole(true)}>
          Show all {count(lines.length)} lines
        </button>
      )}
    </details>
  );
}

function diffTone(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('diff ')) return 'file';
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'place' : '';
}

export function Mail({ timeline }: { timeline: Timeline }) {
  const { mail } = timeline.whole;
  if (mail.length === 0) {
    return (
      <Empty title="No letters">
        <p>Where several agents work on a project, what they write to each other stands here.</p>
      </Empty>
    );
  }
  return (
    <ol class="list">
      {mail.map((letter) => (
        <li key={letter.id} class="panel letter">
          <h2>{letter.subject || '(no subject)'}</h2>
          <p class="soft">
            #{letter.id} from <b>{letter.from}</b> to <b>{letter.to}</b>, {moment(letter.at_ms)}
            {letter.in_reply_to !== null && `, in reply to #${letter.in_reply_to}`}
            {letter.read ? ', read' : ', not read yet'}
          </p>
          <Words text={letter.text} />
        </li>
      ))}
    </ol>
  );
}

export function Journal({ entries }: { entries: readonly EntryEvent[] }) {
  const { session } = useAbout();
  if (session === null) return <Empty title="Recordings have no journal" />;
  if (entries.length === 0) return <Empty title="No entries yet" />;
  return (
    <div class="list">
      <p class="soft">
        The latest {plural(entries.length, 'entry', 'entries')}, the latest first;{' '}
        {count(session.told.value)} told since the page was opened.
      </p>
      <ol class="journal" data-last={entries.at(-1)?.seq} data-told={session.told.value}>
        {[...entries]
          .reverse()
          .slice(0, 300)
          .map((entry) => (
            <li key={entry.seq} data-seq={entry.seq}>
              <details>
                <summary>
                  <span class="num">{entry.seq}</span> <time>{clock(entry.at_ms)}</time>{' '}
                  <b>{words(entry.kind)}</b>
                </summary>
                <pre>{JSON.stringify(entry.entry, null, 2)}</pre>
              </details>
            </li>
          ))}
      </ol>
    </div>
  );
}
