// What a session touched and proved: files, tests over time.

import { useMemo } from 'preact/hooks';
import { plural } from '../../format';
import type { Timeline } from '../../client';
import { ranges } from '../../state/timeline';
import { Chart, axis, faint, ink, stack, wholeSplits } from '../chart';
import { Empty } from '../marks';
import { TurnLink } from './decision';

export function Files({ timeline }: { timeline: Timeline }) {
  const { files } = timeline.whole;
  if (files.length === 0) {
    return (
      <Empty title="No files seen">
        <p>Files that calls read or modify appear here.</p>
      </Empty>
    );
  }
  const changed = files.filter((file) => file.changes > 0).length;
  return (
    <div class="list">
      <p class="soft">
        {plural(files.length, 'file')}, {changed} modified
      </p>
      <div class="table" tabIndex={0} role="region" aria-label="Files">
        <table>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col" class="num">
                Reads
              </th>
              <th scope="col" class="num">
                Changes
              </th>
              <th scope="col">First</th>
              <th scope="col">Last</th>
            </tr>
          </thead>
          <tbody>
            {files.map((file) => (
              <tr key={file.name} class={file.changes > 0 ? 'changed' : ''}>
                <th scope="row">
                  <code>{file.name}</code>
                  {file.changes > 0 && <span class="tag">modified</span>}
                </th>
                <td class="num">{file.reads}</td>
                <td class="num">{file.changes}</td>
                <td>
                  <TurnLink turn={file.first_turn} />
                </td>
                <td>
                  <TurnLink turn={file.last_turn} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

export function Tests({ timeline }: { timeline: Timeline }) {
  const { results, tests } = timeline.whole;
  if (results.length === 0) {
    return (
      <Empty title="No test results seen">
        <p>Results are read from what test runners print, not from what the agent says.</p>
      </Empty>
    );
  }
  return (
    <div class="list">
      <ResultsChart timeline={timeline} />
      {tests.length > 0 && <Identities timeline={timeline} />}
    </div>
  );
}

function ResultsChart({ timeline }: { timeline: Timeline }) {
  const { results } = timeline.whole;
  const data = useMemo(() => {
    const turns = results.map((result) => result.turn);
    const sums = stack([results.map((it) => it.failed), results.map((it) => it.passed)]);
    return [turns, sums[1] ?? [], sums[0] ?? []] as [
      number[],
      (number | null)[],
      (number | null)[],
    ];
  }, [results]);
  const last = results.at(-1);
  return (
    <figure class="panel">
      <figcaption>
        Test results by turn
        <ul class="legend">
          <li class="new">passed</li>
          <li class="error">failed</li>
        </ul>
      </figcaption>
      <Chart
        label={`Test results; the last has ${last?.passed ?? 0} passed and ${last?.failed ?? 0} failed`}
        height={170}
        data={data}
        shape={`${data[0].length}`}
        options={() => ({
          legend: { show: false },
          cursor: { show: false },
          scales: {
            x: { time: false, range: (_, min, max) => [min - 0.7, Math.max(max, min + 8) + 0.7] },
            y: { range: (_, __, max) => [0, Math.max(1, max)] },
          },
          axes: [axis({ splits: wholeSplits, size: 24, gap: 2 }), axis({ size: 44 })],
          series: [
            {},
            { stroke: ink('s1'), fill: faint(ink('s1'), 0.4), width: 1.5 },
            { stroke: ink('bad'), fill: faint(ink('bad'), 0.55), width: 1.5 },
          ],
        })}
      />
    </figure>
  );
}

/** Widest strip of a test. Pixels. */
const STRIP = 320;

function Identities({ timeline }: { timeline: Timeline }) {
  const { results, tests } = timeline.whole;
  const turns = [...new Set(results.map((result) => result.turn))];
  const step = Math.min(14, STRIP / Math.max(1, turns.length));
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Tests that failed">
      <table>
        <caption>{plural(tests.length, 'test')} that failed at some time</caption>
        <thead>
          <tr>
            <th scope="col">Test</th>
            <th scope="col">Over {plural(turns.length, 'result')}</th>
            <th scope="col">Failed in turns</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {tests.map((test) => {
            const failed = new Set(test.failed_in);
            const isFailing = failed.has(turns.at(-1) ?? -1);
            return (
              <tr key={test.id}>
                <th scope="row">
                  <code>{test.name ?? test.id}</code>
                </th>
                <td>
                  <svg
                    class="strip"
                    width={step * turns.length}
                    height="14"
                    role="img"
                    aria-label={`failed in ${failed.size} of ${turns.length}`}
                  >
                    {turns.map((turn, at) => (
                      <rect
                        key={turn}
                        class={failed.has(turn) ? 'failed' : 'passed'}
                        x={at * step}
                        y="1"
                        width={Math.max(1, step - 1)}
                        height="12"
                      />
                    ))}
                  </svg>
                </td>
                <td>{ranges(test.failed_in)}</td>
                <td class={isFailing ? 'failing' : 'passing'}>
                  {isFailing ? 'fails' : 'not failing'}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
