// uPlot as a component: its size, its colours, and its end follow the page.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { preferences } from '../preferences';

/** The value of a colour token as a canvas takes it. */
export function ink(token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** The same colour, seen through. */
export function faint(colour: string, share: number): string {
  return `color-mix(in srgb, ${colour} ${Math.round(share * 100)}%, transparent)`;
}

export interface ChartProps {
  /** What it shows, for those who do not see it. */
  label: string;
  height: number;
  data: uPlot.AlignedData;
  /** Made anew when `shape` changes or the colours do. */
  options(): Omit<uPlot.Options, 'width' | 'height'>;
  /** What the options depend on. */
  shape: string;
}

export function Chart({ label, height, data, options, shape }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
  const colours = `${preferences.value.theme}-${dark}`;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const width = Math.max(120, element.clientWidth);
    const made = new uPlot({ ...options(), width, height }, data, element);
    plot.current = made;
    const watcher = new ResizeObserver(() => {
      const wide = element.clientWidth;
      if (wide > 0 && wide !== made.width) made.setSize({ width: wide, height });
    });
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, colours, height]);
  useEffect(() => plot.current?.setData(data), [data]);
  return <div class="chart" ref={box} role="img" aria-label={label} />;
}

/** An axis in the page's colours. */
export function axis(part: uPlot.Axis = {}): uPlot.Axis {
  return {
    stroke: ink('soft'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: ink('rule'), width: 1 },
    ticks: { stroke: ink('rule'), width: 1, size: 4 },
    ...part,
  };
}

/** Places on an axis of whole numbers. */
export function wholeSplits(_: uPlot, __: number, min: number, max: number): number[] {
  const step = Math.max(1, Math.ceil((max - min) / 12));
  const splits: number[] = [];
  for (let at = Math.ceil(min / step) * step; at <= max; at += step) splits.push(at);
  return splits;
}

/** Values put on top of each other, the last series at the bottom of the list on top. */
export function stack(series: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map((values) =>
    values.map((value, at) => {
      sums[at] = (sums[at] ?? 0) + (value ?? 0);
      return value === null ? null : sums[at];
    }),
  );
}
