import { useRef } from 'react';
import { Axis } from '../../../../rails/axis.tsx';
import { useWidth } from '../../../../rails/use-width.ts';
import { chartOf } from './chart.ts';
import type { ChartStep } from './chart.ts';
import { words } from './words.ts';

interface Props {
  title: string;
  unit: string;
  steps: readonly ChartStep[];
  span: { from: number; to: number };
  /** Greatest value of the axis, when it is known: 100 for percent. */
  most?: number;
}

const HEIGHT = 110;

/** One measurement over time: the mean as a line, least to greatest as a band. Where nothing was measured there is no line. */
export function LineChart({ title, unit, steps, span, most }: Props) {
  const plot = useRef<HTMLDivElement>(null);
  const width = useWidth(plot);
  const chart = chartOf(steps, span, { width, height: HEIGHT }, most);
  const last = steps.at(-1);
  return (
    <figure className="chart">
      <figcaption className="h2">
        <b className="b">{title}</b>
        <small>{last ? words.chart.summary(round(last.mean), round(chart.greatest), unit) : words.chart.none}</small>
      </figcaption>
      <div ref={plot} className="plot">
        <svg viewBox={`0 0 ${Math.max(width, 1)} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path d={chart.band} fill="var(--sb-bar-bed)" />
          <path d={chart.line} fill="none" stroke="var(--sb-bar-up)" strokeWidth="1.5" />
        </svg>
        <div aria-hidden="true">
          <Axis span={span} width={width} endsNow={false} />
        </div>
        <span className="chart-top t2 faint">{words.chart.value(round(chart.top), unit)}</span>
      </div>
    </figure>
  );
}

function round(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });
}
