import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { HealthStep } from '../../../../../../client/browser.ts';
import { keepPrevious, secondPart } from '../../../../data/keep-previous.ts';
import { useFleet } from '../../../../data/use-fleet.ts';
import { SPANS } from '../../../../data/use-router-story.ts';
import { Reading, ReadingFailed } from '../../../../parts/reading.tsx';
import { SpanChoice, useSpan } from '../span-choice.tsx';
import type { ChartStep } from './chart.ts';
import { LineChart } from './line-chart.tsx';
import { words } from './words.ts';
import { serverNow } from '../../../../data/server-clock.ts';

const HOUR_MS = 3_600_000;
type Measure = Exclude<keyof HealthStep, 'from' | 'to'>;

const MEASURES: readonly { key: Measure; title: string; unit: string; most?: number }[] = [
  { key: 'cpu_load_percent', ...words.health.cpu, most: 100 },
  { key: 'memory_used_percent', ...words.health.memory, most: 100 },
  { key: 'disk_used_percent', ...words.health.disk, most: 100 },
  { key: 'temperature_celsius', ...words.health.temperature },
  { key: 'voltage', ...words.health.voltage },
];

/** What a router reports of itself about once a minute. */
export function HealthTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const { api } = useFleet();
  const span = useSpan();
  const queryKey = ['health', routerId, span];
  const { data, error } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const from = new Date(serverNow() - SPANS[span] * HOUR_MS).toISOString();
      return (await api.call('getRouterHealth', { path: { router_id: routerId }, query: { from } }, { signal })).data;
    },
    placeholderData: keepPrevious(queryKey, secondPart),
    refetchInterval: 60_000,
  });
  if (!data) return error ? <ReadingFailed error={error} what={words.health.what} /> : <Reading />;
  const shown = MEASURES.map((measure) => ({ ...measure, steps: stepsOf(data.steps, measure.key) })).filter(
    ({ steps }) => steps.length > 0,
  );
  return (
    <>
      <div className="chart-span">
        <SpanChoice />
      </div>
      {shown.length === 0 ? <p className="empty">{words.health.none}</p> : null}
      <div className="charts">
        {shown.map(({ key, ...chart }) => (
          <LineChart key={key} {...chart} span={{ from: Date.parse(data.from), to: Date.parse(data.to) }} />
        ))}
      </div>
    </>
  );
}

function stepsOf(steps: readonly HealthStep[], key: Measure): ChartStep[] {
  return steps.flatMap((step) => {
    const value = step[key];
    return value === null ? [] : [{ ...value, from: Date.parse(step.from), to: Date.parse(step.to) }];
  });
}
