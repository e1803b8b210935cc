// How early the engine acts, with what that does to its thresholds before it is done.

import { useEffect, useState } from 'preact/hooks';
import type { Timeline } from '../../client';
import { thresholdEffect, type ThresholdRow } from '../../state/timeline';
import type { Steer } from './helm';

const PRESETS = ['lenient', 'standard', 'aggressive'] as const;

const value = (number: number | null): string => (number === null ? 'never' : String(number));

export function Aggressiveness({ timeline, steer }: { timeline: Timeline; steer: Steer }) {
  const own = timeline.whole.standing?.preset ?? timeline.whole.thresholds[0]?.preset ?? '';
  const at = PRESETS.findIndex((preset) => preset === own);
  const [chosen, setChosen] = useState<number | null>(null);
  useEffect(() => setChosen(null), [own]);
  const shown = chosen ?? (at < 0 ? 1 : at);
  const preset = PRESETS[shown] ?? 'standard';
  const isNew = chosen !== null && preset !== own;
  const rows = thresholdEffect(timeline, preset);
  return (
    <div class="aggressiveness">
      <label class="stack">
        <span>
          Aggressiveness: <b>{isNew ? preset : own || preset}</b>
        </span>
        <input
          type="range"
          min="0"
          max="2"
          step="1"
          value={shown}
          aria-valuetext={preset}
          list="presets"
          onInput={(event) => setChosen(Number(event.currentTarget.value))}
        />
      </label>
      <div class="ends" aria-hidden="true">
        {PRESETS.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      {isNew && (
        <button
          type="button"
          class="button main"
          onClick={() =>
            void steer({ control: 'aggressiveness', preset }, `Decisions are ${preset} now.`)
          }
        >
          Apply {preset}
        </button>
      )}
      <Effect rows={rows} isNew={isNew} />
    </div>
  );
}

/** The thresholds as they are, and where another preset is looked at, as they would be. */
function Effect({ rows, isNew }: { rows: readonly ThresholdRow[]; isNew: boolean }) {
  const changed = rows.filter((row) => row.now !== row.then);
  return (
    <details class="effect" open={isNew}>
      <summary>
        {isNew
          ? `Changes ${changed.length} of ${rows.length} thresholds`
          : `${rows.length} thresholds`}
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Threshold</th>
            <th scope="col" class="num">
              Now
            </th>
            {isNew && (
              <th scope="col" class="num">
                Then
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name} class={isNew && row.now !== row.then ? 'changed' : ''}>
              <th scope="row" title={row.name}>
                {row.about}
              </th>
              <td class="num">{value(row.now)}</td>
              {isNew && <td class="num">{value(row.then)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
