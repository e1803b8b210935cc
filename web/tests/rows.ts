// A session as the API lists it, with what a case is about.

import type { Row } from '../src/state/fleet';
import type { Timeline, Turn } from '../src/client';

export function row(part: Partial<Row>): Row {
  return {
    session: 'gw-1',
    kind: 'gateway',
    state: 'open',
    task: 'Fix it',
    key: null,
    agent: 'codex',
    model: 'm-1',
    created_ms: 1_000,
    updated_ms: 2_000,
    turns: 1,
    calls: 1,
    tokens: 10,
    cost_nanodollars: null,
    entries: 4,
    score: 0.5,
    scores: [0.5],
    last: null,
    attention: null,
    driven: null,
    ...part,
  };
}

export function turn(number: number, part: Partial<Turn> = {}): Turn {
  return {
    number,
    attempt: 1,
    seq: number * 10,
    at_ms: null,
    took_ms: null,
    text: '',
    model: null,
    stop: null,
    calls: [],
    more_calls: 0,
    tests: null,
    checks: [],
    score: null,
    signals: null,
    decisions: [],
    said: [],
    claimed: null,
    spent: null,
    notes: [],
    ...part,
  };
}

export function timeline(numbers: readonly number[], part: Partial<Timeline> = {}): Timeline {
  const spent = { input_tokens: 0, cached_tokens: null, output_tokens: 0, cost_nanodollars: null };
  return {
    source: 'gateway',
    session: 'gw-1',
    task: 'Fix it',
    agent: 'codex',
    model: 'm-1',
    policy: 'default',
    seq: 10,
    turn_count: numbers.length,
    before: [],
    turns: numbers.map((number) => turn(number)),
    next: null,
    ending: null,
    whole: {
      files: [],
      results: [],
      tests: [],
      attempts: [],
      mail: [],
      budgets: [],
      thresholds: [],
      spent,
      standing: null,
      controls: [],
      no_controls: null,
    },
    problems: [],
    ...part,
  };
}
