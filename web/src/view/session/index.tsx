// A session, or a recorded run, in one view.

import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Timeline } from '../../client';
import { count, money, moment, percent, plural, short, span, words } from '../../format';
import { nowMs, rowOf, version } from '../../live';
import { hrefOf, type Route } from '../../route';
import { openSession, type OpenSession } from '../../session';
import { decisionsOf } from '../../state/timeline';
import { Badge, Empty, Fact, Failed, Loading, Meter, StateBadge } from '../marks';
import { AboutSession, type About } from './about';
import { Charts } from './charts';
import { Files, Tests } from './evidence';
import { Helm } from './helm';
import { Attempts, Conversation, Decisions, Journal, Mail } from './tabs';
import { Turns } from './turns';

type SessionRoute = Extract<Route, { view: 'session' }>;

export function SessionView({ route }: { route: SessionRoute }) {
  const session = useMemo(() => openSession(route.id, route.after ?? null), [route.id]);
  useEffect(() => () => session.close(), [session]);
  const timeline = session.timeline.value;
  switch (session.reading.value) {
    case 'loading':
      return <Loading what="the session" />;
    case 'unknown':
      return (
        <Empty title="There is no such session">
          <p>
            {route.id} may have been deleted. <a href="#/">To the fleet</a>
          </p>
        </Empty>
      );
    case 'failed':
      return (
        <Failed
          what="The session cannot be shown"
          why={session.error.value}
          retry={() => session.reload()}
        />
      );
    case 'ready':
      if (timeline === null) return null;
      return (
        <Told
          timeline={timeline}
          session={session}
          tab={route.tab}
          turn={route.turn}
          hrefFor={(tab, turn) => hrefOf({ view: 'session', id: route.id, tab, turn })}
        />
      );
  }
}

/** A recorded run: the same view without a helm. */
export function RecordedView({ timeline }: { timeline: Timeline }) {
  const tab = useSignal('timeline');
  const turn = useSignal<number | null>(null);
  return (
    <Told
      timeline={timeline}
      session={null}
      tab={tab.value}
      turn={turn.value}
      hrefFor={null}
      go={(toTab, toTurn) => {
        tab.value = toTab;
        turn.value = toTurn;
      }}
    />
  );
}

interface ToldProps {
  timeline: Timeline;
  session: OpenSession | null;
  tab: string;
  turn: number | null;
  /** The address of a tab and turn; null: they have none, and `go` leads there. */
  hrefFor: ((tab: string, turn: number | null) => string) | null;
  go?(tab: string, turn: number | null): void;
}

/** Counts up when the same turn is asked for again. */
const jumps = signal(0);

function Told({ timeline, session, tab, turn, hrefFor, go }: ToldProps) {
  const lead = (toTab: string, toTurn: number | null): void => {
    if (hrefFor !== null) location.hash = hrefFor(toTab, toTurn);
    else go?.(toTab, toTurn);
    jumps.value += 1;
  };
  const about: About = {
    session,
    jump: (to) => lead('timeline', to),
    turnHref: (to) => hrefFor?.('timeline', to) ?? '#/replay',
  };
  void version.value;
  const state = session === null ? '' : (rowOf(session.id)?.state ?? '');
  const before = useRef(state);
  // What can be done depends on it, and no entry tells that a process is gone.
  useEffect(() => {
    if (before.current !== '' && before.current !== state) session?.reload();
    before.current = state;
  }, [session, state]);
  const steered =
    session !== null &&
    (timeline.whole.controls.length > 0 ||
      timeline.whole.budgets.length > 0 ||
      timeline.whole.no_controls !== null);
  return (
    <AboutSession.Provider value={about}>
      <div class="session" data-seq={timeline.seq}>
        <Head timeline={timeline} session={session} state={state} />
        <Tabs timeline={timeline} tab={tab} lead={lead} isRecorded={session === null} />
        <div class={`body ${steered ? 'steered' : ''}`}>
          <div class="content" role="tabpanel" id="panel" aria-labelledby={`tab-${tab}`}>
            <Body timeline={timeline} session={session} tab={tab} turn={turn} />
          </div>
          {steered && session !== null && (
            <aside aria-label="Steering">
              <Helm session={session} timeline={timeline} state={state} />
              <Standing timeline={timeline} />
            </aside>
          )}
        </div>
      </div>
    </AboutSession.Provider>
  );
}

function Head({
  timeline,
  session,
  state,
}: {
  timeline: Timeline;
  session: OpenSession | null;
  state: string;
}) {
  const { whole, ending } = timeline;
  const { spent, standing } = whole;
  const row = session === null ? undefined : rowOf(session.id);
  const tokens = spent.input_tokens + spent.output_tokens;
  const [first = '', ...rest] = timeline.task.split('\n');
  return (
    <header class="session-head">
      <div class="title">
        {session !== null && (
          <a class="back" href="#/" aria-label="Back to the fleet">
            ←
          </a>
        )}
        <h1>{first || 'No task told'}</h1>
        {state !== '' && <StateBadge state={state} />}
        {ending !== null && ending.ending !== state && (
          <Badge tone={ENDINGS[ending.ending] ?? 'calm'}>{words(ending.ending)}</Badge>
        )}
        {session !== null && session.status.value === 'reconnecting' && (
          <Badge tone="warn">may be old</Badge>
        )}
      </div>
      {rest.join('').trim() !== '' && (
        <details class="whole-task">
          <summary>whole task</summary>
          <pre>{timeline.task}</pre>
        </details>
      )}
      <p class="origin">
        {[timeline.agent || 'unknown agent', timeline.model, timeline.session]
          .filter((part) => part !== '')
          .join(' · ')}
        {timeline.policy !== '' && ` · policy ${timeline.policy}`}
      </p>
      <dl class="facts">
        <Fact name="turns">{count(timeline.turn_count)}</Fact>
        <Fact name="decisions">{count(decisionsOf(timeline).length)}</Fact>
        <Fact name="tokens">{tokens === 0 ? '–' : short(tokens)}</Fact>
        <Fact name="cost">
          {spent.cost_nanodollars === null ? '–' : money(spent.cost_nanodollars)}
        </Fact>
        {row !== undefined && <Fact name="age">{span(nowMs.value - row.created_ms)}</Fact>}
        {standing?.claimed != null && <Claim claimed={standing.claimed} />}
      </dl>
      {timeline.whole.controls.length > 0 && <ToHelm />}
      {ending !== null && ending.why !== '' && <p class="ending">{ending.why}</p>}
      {timeline.problems.length > 0 && (
        <details class="problems">
          <summary>{plural(timeline.problems.length, 'thing')} could not be read</summary>
          <ul>
            {timeline.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </details>
      )}
    </header>
  );
}

/** Where a page has one column, the helm is below everything else. */
function ToHelm() {
  const lead = (): void => {
    const helm = document.querySelector('.helm');
    helm?.scrollIntoView();
    helm?.querySelector('button')?.focus({ preventScroll: true });
  };
  return (
    <button type="button" class="button to-helm" onClick={lead}>
      To the helm
    </button>
  );
}

const ENDINGS: Record<string, 'good' | 'bad' | 'warn'> = {
  complete: 'good',
  solved: 'good',
  answered: 'good',
  claimed: 'warn',
  refuted: 'bad',
  unsolved: 'bad',
  failed: 'bad',
  capped: 'bad',
  broke_off: 'bad',
};

type Claimed = NonNullable<NonNullable<Timeline['whole']['standing']>['claimed']>;

/** What the agent says of its progress: shown as a claim, because nothing rests on it. */
function Claim({ claimed }: { claimed: Claimed }) {
  const { percent: said, step, steps } = claimed;
  const share = said !== null ? said / 100 : step !== null && steps ? step / steps : null;
  const text = [
    said === null ? '' : `${Math.round(said)} %`,
    step === null ? '' : `step ${step}${steps === null ? '' : ` of ${steps}`}`,
  ].filter((part) => part !== '');
  return (
    <Fact name="progress, by its own word">
      {text.join(', ') || '–'}
      {share !== null && <Meter share={share} label={`claims ${percent(share)}`} />}
    </Fact>
  );
}

function Standing({ timeline }: { timeline: Timeline }) {
  const { standing } = timeline.whole;
  if (standing === null) return null;
  const share = standing.context_window > 0 ? standing.context_tokens / standing.context_window : 0;
  return (
    <section class="panel standing">
      <h2>How the engine sees it</h2>
      <dl class="pairs">
        <Line name="Stage">{words(standing.stage) || '–'}</Line>
        <Line name="Kind of task">{words(standing.task_type) || '–'}</Line>
        <Line name="Complexity">{words(standing.complexity) || '–'}</Line>
        <Line name="Attempt">{standing.attempt}</Line>
        <Line name="Files">
          {standing.files_read} read, {standing.files_modified} modified
        </Line>
        <Line name="Revisits">{standing.revisits}</Line>
        <Line name="Context">
          {short(standing.context_tokens)} of {short(standing.context_window)}
          <Meter share={share} label={`context ${percent(share)} full`} />
        </Line>
      </dl>
      {standing.approaches.length > 0 && (
        <>
          <h3>Approaches</h3>
          <ol class="approaches">
            {standing.approaches.map((approach, at) => (
              <li key={at}>{approach}</li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

function Line({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface TabsProps {
  timeline: Timeline;
  tab: string;
  isRecorded: boolean;
  lead(tab: string, turn: number | null): void;
}

function Tabs({ timeline, tab, isRecorded, lead }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const { whole } = timeline;
  const tabs: [string, string, number | null][] = [
    ['timeline', 'Timeline', null],
    ['conversation', 'Conversation', null],
    ['decisions', 'Decisions', decisionsOf(timeline).length],
    ['files', 'Files', whole.files.length],
    ['tests', 'Tests', whole.tests.length],
    ['attempts', 'Attempts', whole.attempts.length],
    ['mail', 'Mail', whole.mail.length],
  ];
  if (!isRecorded) tabs.push(['journal', 'Journal', null]);
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === tab);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    lead(next[0], null);
    list.current?.querySelector<HTMLElement>(`#tab-${next[0]}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Parts of the session" ref={list} onKeyDown={onKey}>
      {tabs.map(([name, title, number]) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={tab === name}
          aria-controls="panel"
          tabIndex={tab === name ? 0 : -1}
          onClick={() => lead(name, null)}
        >
          {title}
          {number !== null && number > 0 && <span class="number">{number}</span>}
        </button>
      ))}
    </div>
  );
}

function Body({
  timeline,
  session,
  tab,
  turn,
}: {
  timeline: Timeline;
  session: OpenSession | null;
  tab: string;
  turn: number | null;
}) {
  switch (tab) {
    case 'conversation':
      return <Conversation timeline={timeline} />;
    case 'decisions':
      return <Decisions timeline={timeline} />;
    case 'files':
      return <Files timeline={timeline} />;
    case 'tests':
      return <Tests timeline={timeline} />;
    case 'attempts':
      return <Attempts timeline={timeline} />;
    case 'mail':
      return <Mail timeline={timeline} />;
    case 'journal':
      return <Journal entries={session?.entries.value ?? []} />;
    default:
      return (
        <>
          <Charts timeline={timeline} />
          <Turns timeline={timeline} target={turn} jump={jumps.value} />
          <p class="soft end">
            {timeline.turns.at(-1)?.at_ms != null &&
              `Last turn ${moment(timeline.turns.at(-1)?.at_ms ?? 0)}`}
          </p>
        </>
      );
  }
}
