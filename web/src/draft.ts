// Stands in for types that come from the API document.
export interface Decided {
  seq: number | null;
  at_ms: number | null;
  turn: number;
  action: string;
  reason: string;
  why: string;
  numbers: Record<string, number>;
  evidence: Evidence;
  score: number;
  shadow: boolean;
  put: Put | null;
  mark: Mark;
  mark_note: string | null;
}

export interface Evidence {
  turns: number[];
  excerpt: string;
}

export interface Put {
  text: string;
  template: string;
  variant: number;
}

export interface Said {
  seq: number | null;
  at_ms: number | null;
  text: string;
  template: string;
}

export type Mark = 'none' | 'helpful' | 'harmful';

export interface Note {
  seq: number | null;
  at_ms: number | null;
  kind: string;
  text: string;
  who: string | null;
}

export interface Turn {
  number: number;
  attempt: number;
  seq: number | null;
  at_ms: number | null;
  took_ms: number | null;
  text: string;
  model: string | null;
  stop: string | null;
  calls: Call[];
  more_calls: number;
  tests: TestResults | null;
  checks: CheckRun[];
  score: number | null;
  signals: Signals | null;
  decisions: Decided[];
  said: Said[];
  claimed: Claimed | null;
  spent: Spent | null;
  notes: Note[];
}

export interface Call {
  name: string;
  label: string;
  arguments: string;
  kind: Kind;
  changes: boolean;
  outcome: Outcome | null;
  error: string | null;
  exit_code: number | null;
  excerpt: string;
  times: number;
  novel: boolean;
  took_ms: number | null;
}

export type Kind =
  'read' | 'search' | 'edit' | 'execute' | 'test' | 'poll' | 'paginate' | 'plan' | 'other';

export type Outcome = 'ok' | 'error' | 'empty';

export interface TestResults {
  passed: number;
  failed: number;
  skipped: number;
  broken: boolean;
  failing: FailingTest[];
}

export interface FailingTest {
  id: string;
  name: string | null;
}

export interface CheckRun {
  seq: number | null;
  cause: string;
  passed: boolean;
  took_ms: number | null;
  excerpt: string;
  tests: TestResults | null;
}

export interface Signals {
  progress_velocity: number;
  novelty: number;
  stuck_loop: number;
  token_budget: number;
  budget_left: number;
  intervention_ratio: number;
  complexity: number;
  test_trend: number;
  error_rate: number;
}

export interface Claimed {
  percent: number | null;
  step: number | null;
  steps: number | null;
}

export interface Spent {
  input_tokens: number;
  cached_tokens: number | null;
  output_tokens: number;
  cost_nanodollars: number | null;
}

export interface Whole {
  files: FileSeen[];
  results: TestPoint[];
  tests: TestSeen[];
  attempts: Attempt[];
  mail: Letter[];
  budgets: Budget[];
  thresholds: Thresholds[];
  spent: Spent;
  standing: Standing | null;
  controls: string[];
  no_controls: string | null;
}

export interface FileSeen {
  name: string;
  reads: number;
  changes: number;
  first_turn: number;
  last_turn: number;
}

export interface TestPoint {
  turn: number;
  passed: number;
  failed: number;
  broken: boolean;
}

export interface TestSeen {
  id: string;
  name: string | null;
  failed_in: number[];
}

export interface Attempt {
  number: number;
  seq: number | null;
  turns: number;
  reason: string;
  tried: string;
  next: string;
  failed: number | null;
  passed: number | null;
  files: string[];
  insertions: number;
  deletions: number;
  kept: string;
  diff: string | null;
}

export interface Letter {
  id: number;
  at_ms: number;
  from: string;
  to: string;
  subject: string;
  text: string;
  in_reply_to: number | null;
  read: boolean;
}

export interface Budget {
  name: string;
  used: number;
  allowed: number | null;
}

export interface Standing {
  attempt: number;
  stage: string;
  task_type: string;
  complexity: string;
  approaches: string[];
  files_read: number;
  files_modified: number;
  revisits: number;
  context_tokens: number;
  context_window: number;
  claimed: Claimed | null;
  paused: string | null;
  is_left_alone: boolean;
  preset: string | null;
}

export interface Timeline {
  source: Source;
  session: string;
  task: string;
  agent: string;
  model: string;
  policy: string;
  seq: number;
  turn_count: number;
  before: Note[];
  turns: Turn[];
  next: number | null;
  ending: Concluded | null;
  whole: Whole;
  problems: string[];
}

export type Source = 'gateway' | 'run' | 'recorded';

export interface Concluded {
  ending: string;
  why: string;
  answer: string;
}

export interface Thresholds {
  preset: string;
  holds: boolean;
  values: Threshold[];
}

export interface Threshold {
  name: string;
  about: string;
  value: number | null;
}

export interface Replayed {
  format: string;
  runs: RunLine[];
  more_runs: number;
  timeline: Timeline | null;
  problems: string[];
}

export interface RunLine {
  id: string;
  agent: string;
  model: string;
  outcome: string | null;
  turns: number;
  calls: number;
  decisions: number;
  first_action: string | null;
}

export interface NewMark {
  seq: number;
  mark: Mark;
  note: string | null;
}

export interface Marked {
  session: string;
  who: string;
  mark: NewMark;
}

export interface Analytics {
  since_ms: number;
  until_ms: number;
  bucket_ms: number;
  sessions: number;
  entries: number;
  complete: boolean;
  buckets: Bucket[];
  decisions: Count[];
  endings: Record<string, number>;
  followed: Followed[];
  kinds: Record<string, number>;
  stop_reasons: Record<string, number>;
  groups: Group[];
  limits: LimitHits;
  start_overs: StartOvers;
  turns_to_solve: Spread;
  after_warning: After;
  after_shadow_end: After;
  judged: Judged[];
}

export interface Bucket {
  from_ms: number;
  requests: number;
  replies: number;
  decisions: Record<string, number>;
  rescues: number;
  failed_calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_nanodollars: number;
  unpriced_replies: number;
}

export interface Count {
  action: string;
  reason: string;
  shadow: boolean;
  count: number;
}

export interface Followed {
  action: string;
  shadow: boolean;
  went_on: number;
  again: number;
  answered: number;
  broke_off: number;
  nothing: number;
}

export interface Group {
  kind: string;
  agent: string;
  model: string;
  sessions: number;
  endings: Record<string, number>;
  judged: number;
  solved: number;
  turns: Spread;
  at_limit: number;
  start_overs: number;
  interventions: number;
  tokens: number;
  cost_nanodollars: number;
}

export interface Spread {
  count: number;
  mean: number;
  median: number;
  p90: number;
  max: number;
}

export interface LimitHits {
  sessions: number;
  by_budget: Record<string, number>;
}

export interface StartOvers {
  count: number;
  sessions_by_count: Record<string, number>;
}

export interface After {
  sessions: number;
  turns: number;
  turns_after: number;
  tokens: number;
  tokens_after: number;
  cost_nanodollars: number;
  cost_after_nanodollars: number;
}

export interface Judged {
  action: string;
  reason: string;
  template: string;
  helpful: number;
  harmful: number;
}
