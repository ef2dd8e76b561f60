import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { callerGone } from '../../../platform/http/caller-gone.ts';
import { commonErrors, envelope, routerParams, success } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import type { PingService, RoundTrips } from './service.ts';

const bodySchema = z
  .object({
    count: z.int().min(1).max(10).default(3).describe('Probes, one after the other'),
    timeout_seconds: z.int().min(1).max(30).default(5).describe('For all probes together'),
  })
  .meta({ id: 'Ping', examples: [{ count: 3, timeout_seconds: 5 }] });

const milliseconds = z.number().describe('Milliseconds');

const answerSchema = z
  .object({
    sent: z.int(),
    received: z.int(),
    min_ms: milliseconds,
    avg_ms: milliseconds,
    max_ms: milliseconds,
    times_ms: z.array(z.number().nullable()).describe('Each probe in order; null without an answer in time'),
  })
  .meta({
    id: 'PingResult',
    examples: [{ sent: 3, received: 3, min_ms: 18.42, avg_ms: 21.07, max_ms: 24.9, times_ms: [24.9, 19.89, 18.42] }],
  });

export function pingRoute(app: App, { ping }: { ping: PingService }): void {
  app.post(
    '/api/routers/:router_id/ping',
    {
      config: { role: 'operator' },
      schema: {
        tags: ['commands'],
        operationId: 'pingRouter',
        summary: 'Measure the round trip to the API of a router',
        description:
          'Asks the router for its name, through the tunnel and its agent, and measures the time to the answer. A router with SSH only is asked over SSH.',
        params: routerParams,
        body: bodySchema.nullable(),
        response: {
          200: envelope(answerSchema),
          ...commonErrors,
          503: problemSchema.describe(
            '`agent_offline` or `router_unreachable`; `reason` is the word of the state, as in docs/states.md, or `timeout` if no probe was answered',
          ),
        },
      },
    },
    async (request, reply) => {
      const { count, timeout_seconds: seconds } = request.body ?? bodySchema.parse({});
      const { teamId } = principalOf(request);
      const asked = { count, timeoutMs: seconds * 1000 };
      return success(presentTimes(await ping.ping(teamId, request.params.router_id, asked, callerGone(reply.raw))));
    },
  );
}

function presentTimes(times: RoundTrips): z.infer<typeof answerSchema> {
  const answered = times.filter((time) => time !== null);
  const sum = answered.reduce((total, time) => total + time, 0);
  return {
    sent: times.length,
    received: answered.length,
    min_ms: rounded(Math.min(...answered)),
    avg_ms: rounded(sum / answered.length),
    max_ms: rounded(Math.max(...answered)),
    times_ms: times.map((time) => (time === null ? null : rounded(time))),
  };
}

/** To a hundredth of a millisecond: the timers are no better. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
