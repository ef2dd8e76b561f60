import { historyCpuRows } from './history-cpu-rows.ts';
import { historySizeRows } from './history-size-rows.ts';
import type { Row } from './report.ts';

/** What keeping the history costs: processor and disk. */
export async function historyRows(): Promise<Row[]> {
  return [...(await historyCpuRows()), ...(await historySizeRows())];
}
