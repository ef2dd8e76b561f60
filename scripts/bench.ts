/**
 * `npm run bench [names…] [--seconds S] [--rounds N] [--agents N,…] [--databases sqlite,postgres] [--json]`: the numbers of
 * docs/benchmarks.md as ratios, both sides of each measured in the same run and in turns. Every hop is a process of its own.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { Choice } from './bench/field.ts';
import { Paths } from './bench/paths.ts';
import { formatTable, passes } from './bench/report.ts';
import type { Row } from './bench/report.ts';
import { scenarios } from './bench/scenarios.ts';
import { startTargets } from './bench/targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Length of one sample. */
    seconds: { type: 'string', default: '1' },
    /** Samples of each side; the median counts. */
    rounds: { type: 'string', default: '5' },
    /** Sizes of the fleets of `fleet`. */
    agents: { type: 'string', default: '1000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    json: { type: 'boolean', default: false },
  },
});

const chosen = scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length === 0) {
  process.stderr.write(`names: ${scenarios.map(({ name, about }) => `${name} (${about})`).join(', ')}\n`);
  process.exit(1);
}

const choice: Choice = {
  agents: values.agents.split(',').map(Number),
  databases: values.databases.split(',').filter((name): name is 'sqlite' | 'postgres' => name === 'sqlite' || name === 'postgres'),
};
if (choice.databases.length === 0 || !choice.agents.every((count) => Number.isInteger(count) && count > 0 && count <= 10_000)) {
  process.stderr.write('--agents takes numbers from 1 to 10000, --databases sqlite or postgres or both\n');
  process.exit(1);
}
const comparing = chosen.filter((scenario) => 'run' in scenario);
const rows: Row[] = comparing.length > 0 ? await compare(comparing) : [];
for (const scenario of chosen) {
  if (!('runAlone' in scenario)) continue;
  process.stderr.write(`${scenario.name} …\n`);
  rows.push(...(await scenario.runAlone(choice)));
}
process.stdout.write(
  values.json
    ? `${JSON.stringify(
        rows.map((row) => ({ ...row, passes: passes(row) })),
        null,
        2,
      )}\n`
    : `${formatTable(rows)}\n`,
);
// Whoever runs it from a script sees a missed target, too.
if (!rows.every(passes)) process.exitCode = 1;

/** Scenarios that compare paths share them. */
async function compare(compared: typeof comparing): Promise<Row[]> {
  const targets = await startTargets();
  const paths = await Paths.open(targets);
  const found: Row[] = [];
  try {
    const field = {
      targets,
      relay: await paths.relay({ tls: false }),
      relayTls: await paths.relay({ tls: true }),
      product: await paths.product({ tls: false }),
      ssh: await paths.ssh(),
      paths,
      productTls: await paths.product({ tls: true }),
      ms: Number(values.seconds) * 1000,
      rounds: Number(values.rounds),
    };
    for (const scenario of compared) {
      process.stderr.write(`${scenario.name} …\n`);
      found.push(...(await scenario.run(field)));
    }
  } finally {
    await paths.close();
    targets.close();
  }
  return found;
}
