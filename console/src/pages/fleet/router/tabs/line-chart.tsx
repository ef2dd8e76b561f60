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
/** The ends of the axis are 1, 2 or 5 with zeros: fractions, too, are shown whole. */
const ROUND: Intl.NumberFormatOptions = { maximumSignificantDigits: 3 };

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
          <path d={`M0,0H${width}M0,${HEIGHT}H${width}`} stroke="var(--sb-hair)" />
          <path d={chart.band} fill="var(--sb-bar-bed)" />
          <path d={chart.line} fill="none" stroke="var(--sb-bar-up)" strokeWidth="1.5" />
        </svg>
        <div aria-hidden="true">
          <Axis span={span} width={width} endsNow={false} />
        </div>
        <span className="chart-end t2 faint">{words.chart.value(chart.scale.top.toLocaleString(undefined, ROUND), unit)}</span>
        <span className="chart-end bottom t2 faint">{words.chart.value(chart.scale.bottom.toLocaleString(undefined, ROUND), unit)}</span>
      </div>
    </figure>
  );
}

function round(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });
}
