// Asks the gateway's API. The token, where one is needed, stays in this tab's session storage.

import type { components } from './api';

export type Schemas = components['schemas'];
export type SessionLine = Schemas['SessionLine'];
export type SessionDetail = Schemas['SessionDetail'];
export type SessionList = Schemas['SessionList'];
export type Entries = Schemas['Entries'];
export type Control = Schemas['Control'];
export type Taken = Schemas['Taken'];
export type Analytics = Schemas['Analytics'];
export type Timeline = Schemas['Timeline'];
export type Turn = Schemas['Turn'];
export type Note = Schemas['Note'];
export type Replayed = Schemas['Replayed'];
/** A decision with all that explains it. The document numbers it, because lists have a short one. */
export type Decided = Turn['decisions'][number];
type NewMark = Schemas['NewMark'];
type Marked = Schemas['Marked'];

/** An answer that takes longer is given up. Milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Where the token is kept: gone with the tab, never on disk with the preferences. */
const TOKEN_KEY = 'steersman.token';

/** Why a request brought nothing. `status` is 0 if no answer came. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

export function token(): string {
  return sessionStorage.getItem(TOKEN_KEY) ?? '';
}

export function keepToken(value: string): void {
  if (value === '') sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, value);
}

/** Base64url without padding, as the protocol's name wants it. */
export function base64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Browsers cannot put headers on a WebSocket, so the token travels as a protocol's name. */
export function socketProtocols(): string[] {
  const value = token();
  return value === '' ? [] : ['steersman.v1', `steersman.bearer.${base64Url(value)}`];
}

export type Query = Record<string, string | number | null | undefined>;

/** A path with its query; what is null, undefined or empty is left out. */
export function withQuery(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The address of the WebSocket beside this page. */
export function socketUrl(query: Query): string {
  const url = new URL(withQuery('/api/events', query), location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

/** What the API says went wrong, whatever it answered with. */
async function problem(response: Response): Promise<ApiError> {
  let code = 'failed';
  let message = `the gateway answered with status ${response.status}`;
  try {
    const body: unknown = await response.json();
    const error = (body as Partial<Schemas['Problem']> | null)?.error;
    if (typeof error?.code === 'string') code = error.code;
    if (typeof error?.message === 'string') message = error.message;
  } catch {
    // No JSON: the status has to do.
  }
  return new ApiError(response.status, code, message);
}

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers = new Headers(init.headers);
  headers.set('accept', 'application/json');
  if (token() !== '') headers.set('authorization', `Bearer ${token()}`);
  let response: Response;
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    response = await fetch(path, { cache: 'no-store', signal, ...init, headers });
  } catch (cause) {
    const late = cause instanceof DOMException && cause.name === 'TimeoutError';
    const why = late ? 'the gateway did not answer in time' : 'the gateway cannot be reached';
    throw new ApiError(0, late ? 'late' : 'unreachable', why);
  }
  if (!response.ok) throw await problem(response);
  return (await response.json()) as T;
}

function post<T>(path: string, body: unknown, who = ''): Promise<T> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  // Headers hold only ASCII.
  if (who !== '') headers['x-steersman-who'] = encodeURIComponent(who);
  return ask<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

const sessionPath = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;

export const api = {
  sessions: (query: Query): Promise<SessionList> => ask(withQuery('/api/sessions', query)),
  session: (id: string): Promise<SessionDetail> => ask(sessionPath(id)),
  entries: (id: string, after: number, limit: number): Promise<Entries> =>
    ask(withQuery(`${sessionPath(id)}/entries`, { after, limit })),
  control: (id: string, control: Control, who: string): Promise<Taken> =>
    post(`${sessionPath(id)}/control`, control, who),
  timeline: (id: string, afterTurn: number): Promise<Timeline> =>
    ask(withQuery(`${sessionPath(id)}/timeline`, { after_turn: afterTurn })),
  mark: (id: string, mark: NewMark, who: string): Promise<Marked> =>
    post(`${sessionPath(id)}/marks`, mark, who),
  replay: (file: Blob, query: Query): Promise<Replayed> =>
    ask(withQuery('/api/replay', query), {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: file,
    }),
  analytics: (query: Query): Promise<Analytics> => ask(withQuery('/api/analytics', query)),
};
