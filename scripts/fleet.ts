/** `npm run fleet`: many light agents with routers that do not exist, in one process, for demonstrations and measurements. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Administrator, enrolAll } from './fleet/enrol.ts';
import { Fleet } from './fleet/fleet.ts';
import { Life } from './fleet/life.ts';
import { planFleet } from './fleet/plan.ts';

const USAGE = `npm run fleet -- --server URL --agents N [options]

The key of an administrator is in SIGNALBOX_KEY. Agents speak the real protocol; their routers exist only as what they say.

  --routers-per-agent M   routers of each agent (1), at most 500
  --routers N             routers of all agents together, instead
  --credentials FILE      keeps the agents' credentials for the next run (fleet-credentials.json)
  --sites                 makes a site with a place for each agent
  --spread SECONDS        all agents dial within this time (0: at once)
  --storm SECONDS         cuts all tunnels together, again and again
  --flapping SHARE        share of agents whose tunnel breaks within a minute, again and again (0 to 1)
  --silent SHARE          share that connects and then says nothing
  --slow SHARE            share that answers after seconds
  --absent N              the last N agents never dial (0)
  --life                  outages, reboots, changes and faults come and go
  --seed N                another fleet, and other events (1)
`;

const TELL_MS = 10_000;

const number = (value: string | undefined, fallback: number, name: string, most: number): number => {
  const read = value === undefined ? fallback : Number(value);
  if (Number.isFinite(read) && read >= 0 && read <= most) return read;
  return fail(`--${name} must be a number from 0 to ${most}`);
};

function fail(message: string): never {
  process.stderr.write(`fleet: ${message}\n\n${USAGE}`);
  process.exit(2);
}

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    server: text,
    agents: text,
    'routers-per-agent': text,
    routers: text,
    credentials: text,
    spread: text,
    storm: text,
    flapping: text,
    silent: text,
    slow: text,
    seed: text,
    absent: text,
    sites: { type: 'boolean' },
    life: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const { SIGNALBOX_KEY: key = '' } = process.env;
const { server = fail('--server is missing') } = values;
if (key === '') fail('SIGNALBOX_KEY must hold the key of an administrator');
const agents = Math.floor(number(values.agents, 1, 'agents', 100_000));
const routers = Math.floor(
  number(values.routers, agents * number(values['routers-per-agent'], 1, 'routers-per-agent', 500), 'routers', agents * 500),
);
const seed = number(values.seed, 1, 'seed', 2 ** 32);
const plan = planFleet({ agents, routers, seed });
const credentials = await enrolAll(plan, {
  administrator: new Administrator(server, key),
  file: values.credentials ?? 'fleet-credentials.json',
  sites: values.sites ?? false,
});
const shares = {
  flapping: number(values.flapping, 0, 'flapping', 1),
  silent: number(values.silent, 0, 'silent', 1),
  slow: number(values.slow, 0, 'slow', 1),
};
const absent = Math.floor(number(values.absent, 0, 'absent', agents));
const fleet = new Fleet({ server, plan: plan.slice(0, agents - absent), credentials, shares, seed, now: Date.now });
const timers: NodeJS.Timeout[] = [];
const startedAt = performance.now();
fleet.start(number(values.spread, 0, 'spread', 3600) * 1000);
const stormMs = number(values.storm, 0, 'storm', 86_400) * 1000;
if (stormMs > 0) timers.push(setInterval(() => fleet.storm(), stormMs));
const life = values.life ? new Life(fleet, seed) : undefined;
life?.start();

const tell = (): void => {
  const { ready, dials, refused, requests } = fleet.counts;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const megabytes = Math.round(process.memoryUsage().rss / 1e6);
  process.stdout.write(
    `${seconds} s: ${ready} of ${fleet.agents.length} agents ready, ${dials} dials, ${refused} refused, ${requests} requests, ${megabytes} MB\n`,
  );
};
const allReady = setInterval(() => {
  if (fleet.counts.ready < fleet.agents.length) return;
  clearInterval(allReady);
  tell();
}, 100);
timers.push(allReady, setInterval(tell, TELL_MS));

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    for (const timer of timers) clearInterval(timer);
    life?.stop();
    fleet.stop();
  });
