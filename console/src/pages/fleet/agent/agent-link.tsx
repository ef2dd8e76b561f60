import { useQuery } from '@tanstack/react-query';
import { keepPrevious, secondPart } from '../../../data/keep-previous.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { LineChart } from '../router/tabs/line-chart.tsx';
import type { ChartStep } from '../router/tabs/chart.ts';
import { words } from './words.ts';
import { serverNow } from '../../../data/server-clock.ts';

const HOUR_MS = 3_600_000;

/** Round trip and loss of the pings in an agent's tunnel. */
export function AgentLink({ agentId, hours }: { agentId: string; hours: number }) {
  const { api } = useFleet();
  const queryKey = ['link', agentId, hours];
  const { data, error } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const from = new Date(serverNow() - hours * HOUR_MS).toISOString();
      return (await api.call('getAgentLink', { path: { agent_id: agentId }, query: { from } }, { signal })).data;
    },
    placeholderData: keepPrevious(queryKey, secondPart),
    refetchInterval: 60_000,
  });
  if (!data) return error ? <ReadingFailed error={error} what={words.link.what} /> : <Reading />;
  const span = { from: Date.parse(data.from), to: Date.parse(data.to) };
  const trips: ChartStep[] = data.steps.flatMap(({ from, to, round_trip_ms: trip }) =>
    trip === null ? [] : [{ from: Date.parse(from), to: Date.parse(to), min: trip.min, mean: trip.p50, max: trip.p95 }],
  );
  const losses: ChartStep[] = data.steps.map(({ from, to, loss_percent: loss }) => ({
    from: Date.parse(from),
    to: Date.parse(to),
    min: 0,
    mean: loss,
    max: loss,
  }));
  return (
    <div className="charts">
      <LineChart {...words.link.trip} steps={trips} span={span} />
      <LineChart {...words.link.lost} steps={losses} span={span} />
    </div>
  );
}
