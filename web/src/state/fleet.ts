// The rows of the fleet, as a fold of what the API lists and what the feed tells. Pure.

import type { SessionLine } from '../client';
import type { EntryEvent, FeedEvent } from '../feed';
import { list, number, record, text } from './reading';

/** Scores that are kept of a session, the latest. */
export const MAX_SCORES = 32;
/** Sessions that are kept; beyond them the one that was quiet for longest is forgotten. */
export const MAX_ROWS = 20_000;

export interface LastDecision {
  action: string;
  reason: string;
  why: string;
  score: number;
  turn: number;
  shadow: boolean;
}

export interface Progress {
  percent: number | null;
  step: number | null;
  steps: number | null;
}

export interface Row {
  session: string;
  kind: string;
  state: string;
  task: string;
  key: string | null;
  agent: string | null;
  model: string | null;
  createdMs: number;
  updatedMs: number;
  turns: number;
  calls: number;
  tokens: number | null;
  cost: number | null;
  /** The last entry of its journal that this row includes. */
  seq: number;
  last: LastDecision | null;
  /** The last decision that was more than to go on. */
  lastAct: LastDecision | null;
  scores: readonly number[];
  /** What went wrong last, where nothing has gone well since. */
  trouble: string | null;
  progress: Progress | null;
  /** Whether what came before the page was opened has been read. */
  isDeep: boolean;
}

export interface Fleet {
  rows: Map<string, Row>;
  /** The time of the latest entry: where the feed goes on after a break. */
  lastMs: number;
  /** Sessions of which entries are missing here, or that the feed cannot tell all of. */
  stale: Set<string>;
  /** Entries that were taken in. */
  taken: number;
}

export function emptyFleet(): Fleet {
  return { rows: new Map(), lastMs: 0, stale: new Set(), taken: 0 };
}

export function blankRow(session: string, atMs: number): Row {
  return {
    session,
    kind: session.startsWith('gw-') ? 'gateway' : 'run',
    state: 'open',
    task: '',
    key: null,
    agent: null,
    model: null,
    createdMs: atMs,
    updatedMs: atMs,
    turns: 0,
    calls: 0,
    tokens: null,
    cost: null,
    seq: 0,
    last: null,
    lastAct: null,
    scores: [],
    trouble: null,
    progress: null,
    isDeep: false,
  };
}

/** What a reason is called: the rule's key, or its kind. */
export function reasonName(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  const { rule, kind } = record(reason);
  return text(rule) || text(kind) || 'unknown';
}

export function readDecision(value: unknown): LastDecision | null {
  const it = record(value);
  const action = text(it['action']);
  if (action === '') return null;
  return {
    action,
    reason: reasonName(it['reason']),
    why: text(it['why']),
    score: number(it['score']) ?? 0,
    turn: number(it['turn']) ?? 0,
    shadow: it['shadow'] === true,
  };
}

function withDecision(row: Row, decision: LastDecision): Row {
  const acts = decision.action !== 'continue' && decision.action !== 'retry';
  return {
    ...row,
    last: decision,
    lastAct: acts ? decision : row.lastAct,
    scores: [...row.scores.slice(-(MAX_SCORES - 1)), decision.score],
  };
}

function withReply(row: Row, entry: Record<string, unknown>): Row {
  const usage = record(entry['usage']);
  const used = (number(usage['input_tokens']) ?? 0) + (number(usage['output_tokens']) ?? 0);
  const cost = number(entry['cost_nanodollars']) ?? (number(usage['cost_nanodollars']) || null);
  return {
    ...row,
    turns: row.turns + 1,
    calls: row.calls + list(entry['calls']).length,
    tokens: used > 0 ? (row.tokens ?? 0) + used : row.tokens,
    cost: cost === null ? row.cost : (row.cost ?? 0) + cost,
    model: row.model ?? (text(entry['model']) || null),
    trouble: null,
  };
}

function withOpened(row: Row, entry: Record<string, unknown>): Row {
  return {
    ...row,
    agent: text(entry['client']) || text(entry['agent']) || row.agent,
    model: text(entry['model']) || row.model,
    key: text(entry['key']) || row.key,
    task: row.task || (text(entry['task']).split('\n', 1)[0] ?? ''),
    isDeep: true,
  };
}

function withControl(row: Row, control: Record<string, unknown>): Row {
  const name = text(control['control']);
  if (name === 'pause') return { ...row, state: 'paused' };
  if (name === 'resume' && row.state === 'paused') return { ...row, state: 'open' };
  return row;
}

function withCourse(row: Row, course: string): Row {
  const state = course === 'answer' ? 'capped' : course === 'force' ? 'forced' : row.state;
  return { ...row, state };
}

/** One entry, taken in. The numbers are put right when the list is read again. */
export function foldEntry(row: Row, event: EntryEvent): Row {
  const entry = record(event.entry);
  const base = { ...row, seq: event.seq, updatedMs: Math.max(row.updatedMs, event.at_ms) };
  switch (event.kind) {
    case 'opened':
      return withOpened(base, entry);
    case 'decided': {
      // Runs wrap theirs.
      const decision = readDecision(entry['decision'] ?? entry);
      return decision === null ? base : withDecision(base, decision);
    }
    case 'replied':
      return withReply(base, entry);
    case 'steered':
      return withCourse(base, text(entry['course']));
    case 'controlled':
      return withControl(base, record(entry['control']));
    case 'call_failed':
      return { ...base, trouble: text(entry['message']) || 'a call of the model failed' };
    case 'broke_off':
      return { ...base, trouble: `the answer broke off (${text(entry['how'])})` };
    case 'failed_open':
      return { ...base, trouble: `passed unread: ${text(entry['why'])}` };
    default:
      return base;
  }
}

/** Takes in a batch of the feed. The fleet is changed in place; rows are not. */
export function foldBatch(fleet: Fleet, batch: readonly FeedEvent[]): void {
  for (const event of batch) {
    if (event.type === 'missed') {
      fleet.stale.add(event.session);
      continue;
    }
    const row = fleet.rows.get(event.session) ?? blankRow(event.session, event.at_ms);
    fleet.lastMs = Math.max(fleet.lastMs, event.at_ms);
    if (event.seq <= row.seq) continue;
    // A gap: something of this session was never told, or it is older than the page.
    if (event.seq > row.seq + 1) fleet.stale.add(event.session);
    fleet.taken += 1;
    fleet.rows.set(event.session, foldEntry(row, event));
  }
  forgetOldest(fleet);
}

function forgetOldest(fleet: Fleet): void {
  if (fleet.rows.size <= MAX_ROWS) return;
  const rows = [...fleet.rows.values()].sort((a, b) => a.updatedMs - b.updatedMs);
  for (const row of rows.slice(0, fleet.rows.size - MAX_ROWS)) fleet.rows.delete(row.session);
}

/** Takes in what the API lists: it goes before what was folded, unless the feed is ahead. */
export function foldLines(fleet: Fleet, lines: readonly SessionLine[]): void {
  for (const line of lines) {
    const row = fleet.rows.get(line.session) ?? blankRow(line.session, line.created_ms);
    fleet.lastMs = Math.max(fleet.lastMs, line.updated_ms);
    if (line.entries < row.seq) continue;
    fleet.stale.delete(line.session);
    fleet.rows.set(line.session, withLine(row, line));
  }
  forgetOldest(fleet);
}

function withLine(row: Row, line: SessionLine): Row {
  return {
    ...row,
    kind: line.kind,
    state: line.state,
    task: line.task,
    key: line.key,
    agent: line.agent,
    model: line.model,
    createdMs: line.created_ms,
    updatedMs: Math.max(row.updatedMs, line.updated_ms),
    turns: line.turns,
    calls: line.calls,
    tokens: line.tokens,
    cost: line.cost_nanodollars,
    seq: line.entries,
    // Entries between the two are not in the row; they are read when it is looked at.
    isDeep: row.isDeep && row.seq === line.entries,
  };
}

/** Takes in the last entries of a session's journal, for what the list does not say. */
export function foldPast(fleet: Fleet, session: string, entries: readonly EntryEvent[]): void {
  const row = fleet.rows.get(session);
  if (row === undefined) return;
  let past = { ...blankRow(session, row.createdMs), isDeep: true };
  for (const event of entries) past = foldEntry(past, event);
  const isNewer = past.seq >= row.seq;
  fleet.rows.set(session, {
    ...row,
    last: isNewer ? past.last : (row.last ?? past.last),
    lastAct: isNewer ? past.lastAct : (row.lastAct ?? past.lastAct),
    scores: isNewer ? past.scores : [...past.scores, ...row.scores].slice(-MAX_SCORES),
    trouble: isNewer ? past.trouble : row.trouble,
    isDeep: true,
  });
}
