// What stands around every view: the way between them, how the line is, the token.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { beginAgain, feedStatus, listing, retryMs, retryNow, wanting } from '../live';
import { keepToken, token } from '../client';
import { MAX_WHO, applyTheme, prefer, preferences, type Theme } from '../preferences';
import { hrefOf, readRoute, type Route } from '../route';
import { AnalyticsView } from './analytics';
import { Fleet } from './fleet';
import { Replay, replay } from './replay';
import { SessionView } from './session';

export const route = signal<Route>(readRoute(location.hash));

export function watchRoute(): void {
  window.addEventListener('hashchange', () => {
    const before = route.value;
    route.value = readRoute(location.hash);
    if (before.view !== route.value.view) document.getElementById('main')?.focus();
  });
}

const LINKS: readonly { view: 'fleet' | 'analytics' | 'replay'; name: string }[] = [
  { view: 'fleet', name: 'Fleet' },
  { view: 'analytics', name: 'Analytics' },
  { view: 'replay', name: 'Replay' },
];

const NAMES = { fleet: 'Fleet', session: 'Session', analytics: 'Analytics', replay: 'Replay' };

/** Search is one key away, as in many lists. */
export function watchKeys(): void {
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
    const search = document.getElementById('search');
    if (search === null) return;
    event.preventDefault();
    search.focus();
  });
}

export function Shell() {
  const { view } = route.value;
  useDrops();
  useEffect(() => {
    const number = wanting.value;
    document.title = `${number > 0 ? `(${number}) ` : ''}${NAMES[view]} – Steersman`;
  }, [view, wanting.value]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="#/" aria-label="Steersman, the fleet">
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
            <circle cx="16" cy="16" r="7" />
            <path d="M16 3v26M3 16h26M6.8 6.8l18.4 18.4M25.2 6.8 6.8 25.2" />
          </svg>
          <span>Steersman</span>
        </a>
        <nav aria-label="Views">
          {LINKS.map((link) => (
            <a
              key={link.view}
              href={hrefOf({ view: link.view })}
              {...(view === link.view || (view === 'session' && link.view === 'fleet')
                ? { 'aria-current': 'page' as const }
                : {})}
            >
              {link.name}
            </a>
          ))}
        </nav>
        <LineStatus />
        <Settings />
      </header>
      <Disconnected />
      <main id="main" tabIndex={-1}>
        {listing.value === 'locked' ? <Locked /> : <View />}
      </main>
    </>
  );
}

/** A file that is dropped anywhere is replayed, and never opened in the place of the page. */
function useDrops(): void {
  useEffect(() => {
    const isFile = (event: DragEvent): boolean =>
      event.dataTransfer?.types.includes('Files') === true;
    const over = (event: DragEvent): void => {
      if (isFile(event)) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const file = event.dataTransfer?.files[0];
      if (!isFile(event)) return;
      event.preventDefault();
      if (file === undefined) return;
      location.hash = '#/replay';
      replay(file);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('drop', drop);
    };
  }, []);
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function View() {
  const now = route.value;
  switch (now.view) {
    case 'fleet':
      return <Fleet />;
    case 'session':
      return <SessionView key={now.id} route={now} />;
    case 'analytics':
      return <AnalyticsView />;
    case 'replay':
      return <Replay />;
  }
}

const STATUS = {
  idle: ['Not connected', 'off'],
  connecting: ['Connecting', 'wait'],
  live: ['Live', 'on'],
  reconnecting: ['Reconnecting', 'wait'],
  refused: ['Locked', 'off'],
} as const;

function LineStatus() {
  const [name, tone] = STATUS[feedStatus.value];
  return (
    <span class={`line ${tone}`} role="status" data-status={feedStatus.value}>
      <i aria-hidden="true" />
      {name}
    </span>
  );
}

/** Said loudly only where what is shown may be old. */
function Disconnected() {
  const status = feedStatus.value;
  if (status !== 'reconnecting' && !(status === 'connecting' && retryMs.value !== null))
    return null;
  return (
    <div class="notice" role="alert">
      <span>
        {status === 'reconnecting'
          ? 'The line to Steersman is gone. What you see may be old; what happens meanwhile is told once it is back. A page of `run --listen` ends with its run.'
          : 'Steersman does not answer yet.'}
      </span>
      <button type="button" class="button" onClick={retryNow}>
        Try now
      </button>
    </div>
  );
}

function Locked() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="blank locked"
      onSubmit={(event) => {
        event.preventDefault();
        keepToken(input.current?.value.trim() ?? '');
        beginAgain();
      }}
    >
      <h1>This gateway wants its admin token</h1>
      {token() !== '' && <p role="alert">The token that was given is not the right one.</p>}
      <p>It is kept in this tab until the tab is closed, and goes nowhere but to this gateway.</p>
      <label>
        Admin token
        <input ref={input} type="password" autocomplete="off" required maxLength={4096} />
      </label>
      <button type="submit" class="button main">
        Open
      </button>
    </form>
  );
}

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

function Settings() {
  const { theme, who } = preferences.value;
  return (
    <details class="settings">
      <summary aria-label="Settings">
        <span aria-hidden="true">⚙</span>
      </summary>
      <div class="sheet">
        <fieldset>
          <legend>Theme</legend>
          {THEMES.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="theme"
                value={name}
                checked={theme === name}
                onChange={() => {
                  prefer({ theme: name });
                  applyTheme(name);
                }}
              />
              {name}
            </label>
          ))}
        </fieldset>
        <label class="stack">
          Your name, for the journal
          <input
            type="text"
            maxLength={MAX_WHO}
            value={who}
            placeholder="a person"
            onChange={(event) => prefer({ who: event.currentTarget.value.trim() })}
          />
        </label>
        <p class="soft">Kept in this browser.</p>
      </div>
    </details>
  );
}
