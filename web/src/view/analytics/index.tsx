// What sessions came to: over time, by reason, by agent and model.

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { api, type Analytics } from '../../client';
import { count, money, percent, plural, short } from '../../format';
import { HOURS, prefer, preferences } from '../../preferences';
import { csvTables } from '../../state/export';
import { Empty, Fact, Failed, Loading } from '../marks';
import { DecisionsChart, TokensChart } from './charts';
import {
  DecisionTable,
  Endings,
  FollowedTable,
  GroupTable,
  JudgedTable,
  StopReasons,
} from './tables';

/** How often it is summed up anew while it is looked at. Milliseconds. */
const EVERY_MS = 30_000;

const summed = signal<Analytics | null>(null);

const SPANS: Record<number, string> = { 1: 'hour', 24: 'day', 168: 'week', 720: '30 days' };

/** Buckets so that a span has some dozens of them. */
function bucketFor(hours: number): string {
  return hours <= 1 ? 'minute' : hours <= 168 ? 'hour' : 'day';
}

export function AnalyticsView() {
  const { hours } = preferences.value;
  const [error, setError] = useState('');
  const [isLoading, setLoading] = useState(true);
  const [again, setAgain] = useState(0);
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      const since_ms = Date.now() - hours * 3_600_000;
      try {
        const found = await api.analytics({ since_ms, bucket: bucketFor(hours) });
        if (isOver) return;
        summed.value = found;
        setError('');
      } catch (problem) {
        if (!isOver) setError(problem instanceof Error ? problem.message : String(problem));
      } finally {
        if (!isOver) setLoading(false);
      }
    };
    setLoading(true);
    void read();
    const timer = window.setInterval(() => void (document.hidden || read()), EVERY_MS);
    return () => {
      isOver = true;
      window.clearInterval(timer);
    };
  }, [hours, again]);
  const found = summed.value;
  return (
    <div class="analytics">
      <div class="bar">
        <h1>Analytics</h1>
        <div class="buttons" role="group" aria-label="Time">
          {HOURS.map((span) => (
            <button
              key={span}
              type="button"
              class="button"
              aria-pressed={hours === span}
              onClick={() => prefer({ hours: span })}
            >
              last {SPANS[span]}
            </button>
          ))}
        </div>
        {found !== null && <Export analytics={found} />}
      </div>
      {error !== '' && (
        <Failed what="Nothing can be summed up" why={error} retry={() => setAgain(again + 1)} />
      )}
      {error === '' && found === null && isLoading && <Loading what="what happened" />}
      {error === '' && found !== null && <Summed analytics={found} isLoading={isLoading} />}
    </div>
  );
}

function Summed({ analytics, isLoading }: { analytics: Analytics; isLoading: boolean }) {
  if (analytics.sessions === 0) {
    return (
      <Empty title="Nothing happened in this time">
        <p>Take a longer time, or point an agent at this gateway.</p>
      </Empty>
    );
  }
  return (
    <div class="sheets" aria-busy={isLoading}>
      {!analytics.complete && (
        <p class="notice">
          This is not all: the latest {plural(analytics.sessions, 'session')} were read.
        </p>
      )}
      <Facts analytics={analytics} />
      <DecisionsChart analytics={analytics} />
      <TokensChart analytics={analytics} />
      <Endings analytics={analytics} />
      <StopReasons analytics={analytics} />
      <FollowedTable analytics={analytics} />
      <DecisionTable analytics={analytics} />
      <GroupTable analytics={analytics} />
      <JudgedTable analytics={analytics} />
    </div>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function Facts({ analytics }: { analytics: Analytics }) {
  const { buckets, groups, limits, start_overs, turns_to_solve, after_warning, after_shadow_end } =
    analytics;
  const tokens = sum(buckets.map((it) => it.input_tokens + it.output_tokens));
  const cost = sum(buckets.map((it) => it.cost_nanodollars));
  const judged = sum(groups.map((it) => it.judged));
  const solved = sum(groups.map((it) => it.solved));
  const after = after_warning.tokens > 0 ? after_warning.tokens_after / after_warning.tokens : null;
  return (
    <dl class="facts tiles">
      <Fact name="sessions">{count(analytics.sessions)}</Fact>
      <Fact name="tokens">{short(tokens)}</Fact>
      <Fact name="cost, as far as it is known">{money(cost)}</Fact>
      <Fact name={`solved of ${judged} that a check judged`}>
        {judged === 0 ? '–' : percent(solved / judged)}
      </Fact>
      <Fact name="turns to solve, median">
        {turns_to_solve.count === 0 ? '–' : turns_to_solve.median}
      </Fact>
      <Fact name="sessions that hit a limit">{count(limits.sessions)}</Fact>
      <Fact name="start-overs">{count(start_overs.count)}</Fact>
      <Fact name="of their tokens spent after the first warning">
        {after === null ? '–' : percent(after)}
      </Fact>
      <Fact name="tokens that shadow mode let run on">
        {after_shadow_end.sessions === 0 ? '–' : short(after_shadow_end.tokens_after)}
      </Fact>
    </dl>
  );
}

function save(name: string, kind: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function Export({ analytics }: { analytics: Analytics }) {
  const day = new Date(analytics.until_ms).toISOString().slice(0, 10);
  return (
    <div class="buttons export" role="group" aria-label="Export">
      <button
        type="button"
        class="button"
        onClick={() =>
          save(
            `steersman-${day}.json`,
            'application/json',
            `${JSON.stringify(analytics, null, 2)}\n`,
          )
        }
      >
        JSON
      </button>
      <label class="pick">
        CSV
        <select
          value=""
          onChange={(event) => {
            const name = event.currentTarget.value;
            const text = csvTables(analytics)[name];
            if (text !== undefined) save(`steersman-${name}-${day}.csv`, 'text/csv', text);
            event.currentTarget.value = '';
          }}
        >
          <option value="">choose…</option>
          {Object.keys(csvTables(analytics)).map((name) => (
            <option key={name} value={name}>
              {name.replaceAll('-', ' ')}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
