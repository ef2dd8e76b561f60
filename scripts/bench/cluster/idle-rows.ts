import { setTimeout as pause } from 'node:timers/promises';
import type { Row } from '../report.ts';
import type { BenchMembers } from './members.ts';

const A_SECOND = 3;
const SETTLE_MS = 10_000;
const MEASURE_MS = 30_000;

/** Statements of nodes that nobody uses, as PostgreSQL counts them. One a second answers the balancer's `/readyz`. */
export async function idleRows(members: BenchMembers): Promise<Row[]> {
  await pause(SETTLE_MS);
  await members.query('select pg_stat_statements_reset()');
  const begun = performance.now();
  await pause(MEASURE_MS);
  const calls = Number(await members.query('select sum(calls) from pg_stat_statements'));
  const rate = calls / ((performance.now() - begun) / 1000) / members.nodes.length;
  const most = await members.query(
    `select string_agg(calls || ' x ' || left(regexp_replace(query, '\\s+', ' ', 'g'), 60), '; ')
     from (select calls, query from pg_stat_statements order by calls desc limit 6) as most`,
  );
  return [
    {
      name: `statements a second of each of ${members.nodes.length} idle nodes, to ${A_SECOND}`,
      ratio: rate / A_SECOND,
      bar: { at: 'most', value: 1 },
      detail: `${rate.toFixed(2)} a second; most: ${most}`,
    },
  ];
}
